// The two-regex gate as a promptfoo provider: answers with allow, ask or deny.
const deny = /\brm -rf (~|\/)|\bcurl [^|]*\|\s*(sudo )?sh\b/;
const ask = /\b(push --force|sudo|delete|drop)\b/i;

module.exports = class {
  id() {
    return 'two-regex-gate';
  }

  async callApi(command) {
    return { output: deny.test(command) ? 'deny' : ask.test(command) ? 'ask' : 'allow' };
  }
};
