#!/usr/bin/env node
/*
 * A second verifier of the decision ledger (decision-ledger.md, version 1).
 *
 * One file, no dependency, Node 18 or later. It was written from the specification and
 * shares no code with the first one, so that a slip in either is a disagreement.
 *
 *   node verifier.mjs LEDGER [OPTION]...     one ledger
 *   node verifier.mjs --system LEDGER...     several ledgers as one
 *   node verifier.mjs --vectors DIR          every frozen case: agree and differ counts
 *
 * The options are those of USAGE, in the last section. Exit codes: 0 PASS or CONDITIONAL (with
 * --require-pin only PASS), 1 FAIL or a case that differs, 2 wrong usage, 3 could not check,
 * 4 INCOMPLETE.
 *
 * Sections: bytes, signatures, schema, lines, segments, entries, approvals, authority, log,
 * checkpoints, execution, traces, findings, verify, system, vectors, cli. The three layers
 * (entries, log, execution) do not know of each other.
 */

import { createHash, createPublicKey, verify as checkSignature } from 'node:crypto';
import * as fs from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

/** The check could not be made; the evidence is neither good nor bad. */
class CheckError extends Error {}

// ------------------------------------------------------------------ bytes

const MAX_LINE = 64 * 1024;
const MAX_DEPTH = 200;
const MAX_TURN_ENTRIES = 512;
const GENESIS = `sha256:${'0'.repeat(64)}`;

const hash = (...parts) => parts.reduce((sum, part) => sum.update(part), createHash('sha256')).digest();
const digestOf = (data) => `sha256:${createHash('sha256').update(data).digest('hex')}`;

// Byte exact: what is not UTF-8 throws, and a byte order mark stays where it is.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** RFC 8785: members by UTF-16 code units, numbers and strings as ECMAScript writes them. */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const member = (key) => `${JSON.stringify(key)}:${canonical(value[key])}`;
  return `{${Object.keys(value).sort().map(member).join(',')}}`;
}

/** The canonical text of a value inside the ledger's profile; undefined outside it. */
function profileText(value, depth = 0) {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? JSON.stringify(value) : undefined;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (depth >= MAX_DEPTH) return undefined;
  const list = Array.isArray(value);
  const parts = [];
  for (const key of list ? value.keys() : Object.keys(value).sort()) {
    const text = profileText(value[key], depth + 1);
    if (text === undefined || (!list && !/^[\0-\x7f]*$/.test(key))) return undefined;
    parts.push(list ? text : `${JSON.stringify(key)}:${text}`);
  }
  return list ? `[${parts.join(',')}]` : `{${parts.join(',')}}`;
}

/**
 * Reads JSON text strictly, which JSON.parse does not: it says nothing of doubled keys.
 *
 * Leniently it reads what other programs write as well: bytes that are no UTF-8, lone surrogates,
 * NaN, and integers that no number holds, which become BigInt.
 */
class Reader {
  /** Set when an object has a key twice; when a value is outside the profile. */
  doubled = false;
  outside = false;

  constructor(data, lenient = false) {
    this.lenient = lenient;
    this.text = lenient ? data.toString('utf8') : decoder.decode(data);
    this.at = 0;
    this.value = this.#value(0);
    this.#space();
    if (this.at < this.text.length) this.#fail();
  }

  #fail() {
    throw new SyntaxError(`not JSON at character ${this.at}`);
  }

  #match(pattern) {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (found) this.at = pattern.lastIndex;
    return found;
  }

  #space() {
    this.#match(/[ \t\n\r]*/y);
  }

  /** Takes a sign if it comes next, behind white space. */
  #take(sign) {
    this.#space();
    if (this.text[this.at] !== sign) return false;
    this.at += 1;
    return true;
  }

  #value(depth) {
    this.#space();
    const sign = this.text[this.at];
    if (sign === '"') return this.#string();
    if (sign === '{' || sign === '[') {
      if (depth >= (this.lenient ? 4 * MAX_DEPTH : MAX_DEPTH)) this.#fail();
      this.at += 1;
      return sign === '{' ? this.#object(depth + 1) : this.#array(depth + 1);
    }
    const word = this.#match(/true|false|null/y);
    return word ? JSON.parse(word[0]) : this.#number();
  }

  #number() {
    const odd = this.lenient && this.#match(/NaN|-?Infinity/y);
    if (odd) return Number(odd[0]);
    const found = this.#match(/-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y);
    if (!found) this.#fail();
    const value = Number(found[0]);
    if (found[1] === undefined && found[2] === undefined) {
      if (Number.isSafeInteger(value)) return value;
      this.outside = true;
      return this.lenient ? BigInt(found[0].slice(0, 400)) : value;
    }
    if (!Number.isFinite(value) && !this.lenient) this.#fail();
    this.outside = true;
    return value;
  }

  #string() {
    const begin = this.at;
    this.at += 1;
    for (;;) {
      this.#match(/[^"\\\0-\x1f]*/y);
      if (this.text[this.at] === '"') break;
      if (!this.#match(/\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y)) this.#fail();
    }
    this.at += 1;
    const value = JSON.parse(this.text.slice(begin, this.at));
    if (!this.lenient && /\p{Surrogate}/u.test(value)) this.#fail();
    return value;
  }

  #array(depth) {
    const items = [];
    if (this.#take(']')) return items;
    do items.push(this.#value(depth));
    while (this.#take(','));
    if (!this.#take(']')) this.#fail();
    return items;
  }

  #object(depth) {
    const made = Object.create(null);
    if (this.#take('}')) return made;
    do {
      this.#space();
      if (this.text[this.at] !== '"') this.#fail();
      const key = this.#string();
      if (!this.#take(':')) this.#fail();
      const value = this.#value(depth);
      this.doubled ||= key in made;
      this.outside ||= !/^[\0-\x7f]*$/.test(key);
      made[key] = value;
    } while (this.#take(','));
    if (!this.#take('}')) this.#fail();
    return made;
  }
}

/** A JSON value that is read strictly; undefined where there is none. */
function strictly(data) {
  try {
    const read = new Reader(data);
    return read.doubled ? undefined : read.value;
  } catch {
    return undefined;
  }
}

/** RFC 6962, section 2.1: the tree hash over leaf data, taken leaf by leaf. */
class Tree {
  size = 0;
  #complete = []; // complete subtrees, the largest first

  append(data) {
    let top = hash(Buffer.of(0), data);
    let leaves = 1;
    for (; this.#complete.at(-1)?.leaves === leaves; leaves *= 2) top = hash(Buffer.of(1), this.#complete.pop().top, top);
    this.#complete.push({ leaves, top });
    this.size += 1;
  }

  root() {
    const tops = this.#complete.map(({ top }) => top);
    return tops.length ? tops.reduceRight((right, left) => hash(Buffer.of(1), left, right)) : hash('');
  }
}

/** The root over some entry digests, in the order given. */
function rootOver(digests) {
  const tree = new Tree();
  for (const item of digests) tree.append(rawOf(item));
  return tree.root();
}

/** Several values as one key of a map. */
const joined = (...values) => JSON.stringify(values);

/** What a map holds under a key; made where there is nothing yet. */
function heldIn(map, key, make) {
  if (!map.has(key)) map.set(key, make());
  return map.get(key);
}

/** Adds an item to the list a map holds under a key. */
const addTo = (map, key, item) => heldIn(map, key, () => []).push(item);

const byBytes = (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b));

const rawOf = (value) => Buffer.from(value.slice(value.indexOf(':') + 1), 'hex');
const hexOf = (prefix, data) => `${prefix}:${data.toString('hex')}`;

// ------------------------------------------------------------- signatures

/** Every encoding, its sign bit cleared, of a point of small order: under it anybody can sign. */
const WEAK_KEYS = new Set([
  '00'.repeat(32),
  `01${'00'.repeat(31)}`,
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  `ec${'ff'.repeat(30)}7f`,
  `ed${'ff'.repeat(30)}7f`,
  `ee${'ff'.repeat(30)}7f`,
]);

function isWeak(key) {
  const data = Buffer.from(key);
  data[31] &= 0x7f;
  return WEAK_KEYS.has(data.toString('hex'));
}

/** RFC 8032: whether a signature over a message verifies under a key of 32 bytes that is not weak. */
function verifies(key, sig, message) {
  if (isWeak(key)) return false;
  const form = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), key]);
  try {
    return checkSignature(null, message, createPublicKey({ key: form, format: 'der', type: 'spki' }), sig);
  } catch {
    return false;
  }
}

/** Bytes of base64 that is written in the only way it can be; undefined for anything else. */
function decode64(encoded) {
  const data = Buffer.from(encoded, 'base64');
  return data.length && data.toString('base64') === encoded ? data : undefined;
}

const MAX_NOTE = 64 * 1024;
const LOG_KEY = 1;
const WITNESS_KEY = 4;

/** No spaces, no plus sign, no control characters. */
const isName = (name) => /^[^+\0-\x1f\p{White_Space}\p{Surrogate}]+$/u.test(name);

const keyIdOf = (name, algorithm, key) => hash(`${name}\n`, Buffer.of(algorithm), key).subarray(0, 4);
const keyOf = (name, algorithm, key) => ({ name, algorithm, key, id: keyIdOf(name, algorithm, key) });
const sameKey = (one, other) => one.name === other.name && one.algorithm === other.algorithm && one.key.equals(other.key);

/** Reads `<name>+<key id>+<base64>` (C2SP signed-note); undefined if it is none. */
function parseKey(value) {
  const [, name, id, encoded] = /^([^+]*)\+([0-9a-f]{8})\+(.*)$/su.exec(value) ?? [];
  const data = encoded === undefined ? undefined : decode64(encoded);
  if (!data || data.length !== 33 || ![LOG_KEY, WITNESS_KEY].includes(data[0]) || !isName(name)) return undefined;
  const key = keyOf(name, data[0], data.subarray(1));
  return key.id.toString('hex') === id ? key : undefined;
}

/** Reads a signed note (C2SP signed-note): text, and signatures below it; undefined if it is none. */
function parseNote(data) {
  if (data.length > MAX_NOTE) return undefined;
  let whole;
  try {
    whole = decoder.decode(data);
  } catch {
    return undefined;
  }
  const at = whole.lastIndexOf('\n\n');
  if (at < 0 || !whole.endsWith('\n') || /[\0-\x09\x0b-\x1f]/.test(whole)) return undefined;
  const signatures = whole.slice(at + 2, -1).split('\n').map((line) => {
    const [, name, encoded] = /^\u2014 ([^ ]*) (.*)$/su.exec(line) ?? [];
    const made = encoded === undefined ? undefined : decode64(encoded);
    return made?.length > 4 && isName(name) ? { name, id: made.subarray(0, 4), data: made.subarray(4) } : undefined;
  });
  return signatures.includes(undefined) ? undefined : { text: whole.slice(0, at + 1), signatures };
}

/** Reads a checkpoint's text (C2SP tlog-checkpoint); undefined if it is none. */
function parseCheckpoint(note) {
  if (!note) return undefined;
  const [origin, size, encoded, ...more] = note.text.slice(0, -1).split('\n');
  const root = encoded === undefined ? undefined : decode64(encoded);
  if (root?.length !== 32 || !isNumber(size) || [origin, ...more].includes('')) return undefined;
  const named = more.filter((line) => line.startsWith('spine '));
  const [, seq, entry] = (named.length === 1 && /^spine ([0-9]+) (sha256:[0-9a-f]{64})$/.exec(named[0])) || [];
  const spine = seq !== undefined && isNumber(seq) && seq !== '0' ? { seq: Number(seq), digest: entry } : null;
  return { origin, size: Number(size), root, more, spine };
}

const isNumber = (value) => /^(?:0|[1-9][0-9]{0,18})$/.test(value) && BigInt(value) < 2n ** 63n;

/** Whether a note carries a signature of a key, and all it carries of it verify. */
function signedBy(note, key) {
  const mine = note.signatures.filter((one) => one.name === key.name && one.id.equals(key.id));
  return mine.length > 0 && mine.every(({ data }) => {
    if (key.algorithm === LOG_KEY) return data.length === 64 && verifies(key.key, data, Buffer.from(note.text));
    if (data.length !== 72 || data[0] > 127) return false; // a time of 63 bits stands before a cosignature
    const seen = `cosignature/v1\ntime ${data.readBigUInt64BE(0)}\n${note.text}`;
    return verifies(key.key, data.subarray(8), Buffer.from(seen));
  });
}

// ----------------------------------------------------------------- schema

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const text = (value) => typeof value === 'string';
const flag = (value) => typeof value === 'boolean';
const nothing = (value) => value === null;
const integer = (value) => Number.isSafeInteger(value);
const natural = (value) => Number.isSafeInteger(value) && value >= 0;
const digest = (value) => text(value) && /^sha256:[0-9a-f]{64}$/.test(value);
const resource = (value) => text(value) && /^h:[0-9a-f]{32}$/.test(value);
const publicKey = (value) => text(value) && /^ed25519:[0-9a-f]{64}$/.test(value);
const signature = (value) => text(value) && /^ed25519:[0-9a-f]{128}$/.test(value);
const oneOf = (...words) => (value) => words.includes(value);
const orNull = (check) => (value) => value === null || check(value);
const listOf = (check, most = Infinity) => (value) =>
  Array.isArray(value) && value.length <= most && value.every(check);
const digestSet = (value) =>
  listOf(digest)(value) && value.every((item, at) => at === 0 || value[at - 1] < item);
const closed = (fields) => (value) =>
  isObject(value) &&
  Object.keys(value).length === Object.keys(fields).length &&
  Object.keys(fields).every((name) => Object.hasOwn(value, name) && fields[name](value[name]));

/** From the least to the most guarded. */
const SCOPES = ['inspect-only', 'workspace', 'temp', 'home', 'outside', 'unknown', 'system', 'secret', 'gate'];
const STATES = ['allowed', 'asked', 'denied'];
const scope = oneOf(...SCOPES);

const effect = closed({ type: text, scope, resource, reversible: flag, proof: text, count: natural });
const intent = closed({ agent_id: text, action_type: text, scope, ts: integer, call: text });
const ofLedger = { session: nothing, turn: nothing, parents: listOf(digest, 0) };
const ofSession = { session: text, turn: nothing };
const ofTurn = { session: text, turn: natural };

/** By kind: fields of `ev` beside ts, fields of the envelope, and whether it stands on the spine. */
const KINDS = {
  session_open: {
    spine: true,
    ev: { shape: oneOf('dag', 'linear'), host: text, executes: flag, durability: oneOf('os', 'fsync'), part: natural, spawned_by: orNull(digest) },
    more: ofSession,
  },
  turn_open: { spine: true, ev: { key: text, part: natural, why: text }, more: ofTurn },
  policy_set: { spine: true, ev: { policy: digest }, more: ofLedger },
  approval: {
    spine: true,
    ev: {
      decision_digest: orNull(digest), args_digest: orNull(digest), session: orNull(text), class: orNull(text),
      principal: text, expiry: integer, nonce: (value) => text(value) && /^[0-9a-f]{32}$/.test(value), verdict: oneOf('approve', 'refuse'),
      evidence: oneOf('signature', 'telemetry'), key: orNull(publicKey), sig: orNull(signature),
    },
    more: { turn: nothing },
  },
  decision: {
    spine: null,
    ev: {
      decision_id: digest, action_ref: digest, principal: text,
      auth_mode: oneOf('agent', 'user', 'delegated', 'service', 'unknown'),
      policy_version: digest, decision_state: oneOf(...STATES), args_digest: digest,
    },
    more: {
      ...ofTurn, intent, class: text, basis: listOf(digest), effects: listOf(effect, 64),
      facts: listOf(closed({ code: text, entry: digest }), 32), host: text, rule: text,
      axis: orNull(text), proof: text, mode: orNull(text), build: text,
    },
  },
  outcome: {
    spine: null,
    ev: {
      action_ref: digest, decision_digest: digest, result_digest: orNull(digest),
      terminal_state: oneOf('ok', 'error', 'timeout', 'cancelled', 'refused', 'unresolved'),
    },
    more: {
      session: text,
      source: oneOf('hook', 'telemetry', 'transcript', 'person', 'close', 'recovery'),
      join: oneOf('id', 'content'),
    },
  },
  turn_close: {
    spine: true,
    ev: { root: digest, count: natural, closed_by: oneOf('stop', 'next_turn', 'session_end', 'recovery', 'limit'), ledger_head_digest: digest },
    more: ofTurn,
  },
  session_close: { spine: true, ev: { closed_by: oneOf('session_end', 'recovery'), ledger_head_digest: digest }, more: ofSession },
  recovery: { spine: null, ev: { offset: natural, length: natural, digest }, more: {} },
  key_rotate: {
    spine: true,
    ev: { role: oneOf('checkpoint', 'approver'), name: text, old: orNull(publicKey), new: publicKey, signatures: listOf(signature) },
    more: ofLedger,
  },
  checkpoint: { spine: true, ev: { text }, more: ofLedger },
  audit: {
    spine: true,
    ev: { action: text, actor: text, target: orNull(text), details: isObject },
    more: { turn: nothing, parents: listOf(digest, 0) },
  },
};
for (const kind of Object.values(KINDS)) {
  const envelope = { v: oneOf(1), kind: text, session: orNull(text), turn: orNull(natural), parents: digestSet, ts: integer, ev: closed({ ...kind.ev, ts: integer }), ...kind.more };
  kind.beside = closed(envelope);
  kind.chained = closed({ ...envelope, seq: natural, prev_digest: digest });
}

/** Whether a value is a valid entry of version 1. */
function isEntry(body) {
  if (!isObject(body) || !text(body.kind) || !Object.hasOwn(KINDS, body.kind)) return false;
  const kind = KINDS[body.kind];
  const chained = kind.spine || Object.hasOwn(body, 'seq') || Object.hasOwn(body, 'prev_digest');
  if (!(chained ? kind.chained : kind.beside)(body) || body.ts !== body.ev.ts) return false;
  const { ev } = body;
  switch (body.kind) {
    case 'outcome':
      return ['refused', 'unresolved'].includes(ev.terminal_state) === (ev.result_digest === null);
    case 'recovery': {
      const alone = body.session === null;
      return (body.turn === null) === alone && (body.parents.length === 0) === alone;
    }
    case 'approval': {
      const unsigned = ev.evidence === 'telemetry';
      return (ev.key === null) === unsigned && (ev.sig === null) === unsigned && body.session === ev.session;
    }
    case 'key_rotate':
      return ev.signatures.length === (ev.old === null ? 1 : 2);
    default:
      return true;
  }
}

/** Why a line is no entry: the first of these faults that it has. */
function diagnose(raw) {
  if (raw.length > MAX_LINE) return 'entries.parse';
  let read;
  try {
    read = new Reader(raw);
  } catch {
    return 'entries.parse';
  }
  if (read.doubled) return 'entries.noncanonical';
  if (read.outside) return 'entries.profile';
  if (canonical(read.value) !== read.text) return 'entries.noncanonical';
  const version = isObject(read.value) ? read.value.v : undefined;
  return Number.isInteger(version) && version !== 1 ? 'entries.version' : 'entries.schema';
}

/** Reads one line without its line feed; undefined unless it is byte for byte a valid entry. */
function decode(raw) {
  try {
    const line = decoder.decode(raw);
    // An escaped lone surrogate survives JSON.parse and JSON.stringify; the strict reader refuses it.
    const body = line.includes('\\ud') ? new Reader(raw).value : JSON.parse(line);
    return profileText(body) === line && isEntry(body) ? body : undefined;
  } catch {
    return undefined;
  }
}

// ------------------------------------------------------------------ lines

const CHUNK = 64 * 1024;

/**
 * Where a ledger lies: in a directory, or in memory. Its files are called by their path.
 *
 * What `chunks` yields is overwritten when it is asked for more.
 */
class Source {
  /** Looks at what there is. Sealing removes a file once a segment holds it, so segments come last. */
  look() {
    this.spine = this.names('').filter((name) => /^spine-[0-9]{12}\.jsonl$/.test(name)).sort();
    this.spineSize = this.spine.length ? this.size(this.spine.at(-1)) : 0;
    const names = this.names('sessions').filter((name) => name.endsWith('.jsonl'));
    const files = names.map((name) => [name.slice(0, -6), this.size(`sessions/${name}`)]);
    this.segments = new Segments(this);
    this.sessions = new Map([...this.segments.lengths, ...files]); // by name: how long each is
  }

  /** The lines of a session: of its file, else of what a segment holds of it, else none. */
  session(name) {
    const file = `sessions/${name}.jsonl`;
    if (this.size(file) !== undefined) return readLines(this.chunks(file), file);
    if (!this.segments.lengths.has(name)) this.segments = new Segments(this); // it was sealed meanwhile
    return this.segments.read(name);
  }
}

class Directory extends Source {
  constructor(root) {
    super();
    this.root = root;
    this.look();
  }

  #attempt(what, act) {
    try {
      return act();
    } catch (error) {
      throw new CheckError(`cannot read ${what}: ${error.message}`);
    }
  }

  names(folder) {
    if (folder && this.size(folder) === undefined) return [];
    return this.#attempt(`the ledger at ${this.root}`, () => fs.readdirSync(join(this.root, folder)));
  }

  size(name) {
    return this.#attempt(name, () => fs.statSync(join(this.root, name), { throwIfNoEntry: false })?.size);
  }

  whole(name) {
    return this.size(name) === undefined ? undefined : this.#attempt(name, () => fs.readFileSync(join(this.root, name)));
  }

  *chunks(name, offset = 0, length = Infinity) {
    const file = this.#attempt(name, () => fs.openSync(join(this.root, name), 'r'));
    const buffer = Buffer.allocUnsafe(CHUNK);
    const read = (at) => fs.readSync(file, buffer, 0, Math.min(CHUNK, offset + length - at), at);
    try {
      for (let at = offset, got; (got = this.#attempt(name, () => read(at))) > 0; at += got) yield buffer.subarray(0, got);
    } finally {
      fs.closeSync(file);
    }
  }
}

class Held extends Source {
  constructor(files) {
    super();
    this.files = files;
    this.look();
  }

  names(folder) {
    const above = folder && `${folder}/`;
    const inside = [...this.files.keys()].filter((name) => name.startsWith(above));
    return [...new Set(inside.map((name) => name.slice(above.length).split('/')[0]))];
  }

  size(name) {
    return this.files.get(name)?.length;
  }

  whole(name) {
    return this.files.get(name);
  }

  *chunks(name, offset = 0, length = Infinity) {
    yield this.files.get(name).subarray(offset, offset + length);
  }
}

/**
 * Yields lines as {data, first, closed}; what is longer than a line may be comes in pieces.
 *
 * The data of a piece is overwritten when the next one is read.
 */
async function* pieces(chunks) {
  const buffer = Buffer.allocUnsafe(4 * MAX_LINE);
  let end = 0;
  let first = true;
  for await (const chunk of chunks) {
    for (let taken = 0; taken < chunk.length; ) {
      const length = chunk.copy(buffer, end, taken);
      taken += length;
      end += length;
      let begin = 0;
      for (;;) {
        const rest = buffer.subarray(begin, end);
        const feed = rest.indexOf(10);
        const closed = feed >= 0 && feed <= MAX_LINE;
        if (!closed && rest.length <= MAX_LINE) break;
        const data = rest.subarray(0, closed ? feed : MAX_LINE + 1);
        yield { data, first, closed };
        first = closed;
        begin += data.length + (closed ? 1 : 0);
      }
      buffer.copyWithin(0, begin, end);
      end -= begin;
    }
  }
  if (end) yield { data: buffer.subarray(0, end), first, closed: false };
}

/** A run of lines that are no entries. */
class BadRun {
  lines = []; // the first eight
  total = 0;
  last = 0;
  covered = false;
  torn = false;
  length = 0;
  sum = createHash('sha256');

  constructor(file, offset) {
    this.file = file;
    this.offset = offset;
    this.feeds = 0;
  }

  add(number, { data, first, closed }) {
    // The feed before the recovery entry is not part of the fragment, so each waits for the next line.
    if (this.feeds) this.sum.update('\n');
    this.length += this.feeds + data.length;
    this.feeds = closed ? 1 : 0;
    this.sum.update(data);
    if (!first) return;
    this.total += 1;
    this.last = number;
    if (this.lines.length < 8) this.lines.push({ number, raw: Buffer.from(data) });
  }

  /** Closes the run; `entry` is what stands behind it. */
  end(entry) {
    this.torn = !this.feeds;
    this.covered =
      entry?.kind === 'recovery' &&
      entry.ev.offset === this.offset &&
      entry.ev.length === this.length &&
      entry.ev.digest === `sha256:${this.sum.digest('hex')}`;
    return { bad: this, offset: this.offset };
  }
}

/** Yields a file's entries as {entry, digest, ...} and the runs of lines between them as {bad}. */
async function* readLines(chunks, file) {
  let run;
  let number = 0;
  let offset = 0;
  for await (const piece of pieces(chunks)) {
    if (piece.first) number += 1;
    const entry = piece.first && piece.closed ? decode(piece.data) : undefined;
    if (entry) {
      if (run) yield run.end(entry);
      run = undefined;
      const event = entry.kind === 'decision' ? digestOf(canonical(entry.ev)) : undefined;
      yield { entry, event, digest: digestOf(piece.data), file, number, offset };
    } else {
      run ??= new BadRun(file, offset);
      run.add(number, piece);
    }
    offset += piece.data.length + (piece.closed ? 1 : 0);
  }
  if (run) yield run.end(undefined);
}

/** The name of a session's file, without its ending. */
function sessionName(session) {
  return /^[a-z0-9][a-z0-9-]{0,63}$/.test(session) ? session : `x-${digestOf(session).slice(7)}`;
}

// --------------------------------------------------------------- segments

const isKept = closed({ bytes: natural, digest });
const isManifest = closed({
  v: oneOf(1), day: text, number: natural, pack: isKept, twin: orNull(isKept),
  sessions: listOf(
    closed({
      name: text, session: text, offset: natural, length: natural, bytes: natural, digest, lines: natural, entries: natural, close: digest,
    }),
  ),
});

/** Reads a segment's manifest; undefined if it is none of that segment. */
function manifestOf(data, stem) {
  const body = data && strictly(data);
  if (!isManifest(body) || `${profileText(body)}\n` !== data.toString()) return undefined;
  const { day, number, pack, sessions } = body;
  let end = 0;
  for (const [at, { name, session, offset, length }] of sessions.entries()) {
    if (name !== sessionName(session) || offset !== end || (at > 0 && sessions[at - 1].name >= name)) return undefined;
    end += length;
  }
  return `${day}-${number}` === stem && pack.bytes === end ? body : undefined;
}

/** Counts and hashes bytes as they pass; keeps the digests of their first so many. */
class Tally {
  bytes = 0;
  lines = 0;
  entries = 0;
  #sum = createHash('sha256');
  #ending = Buffer.alloc(0);
  #begun = new Map(); // length -> digest

  constructor(lengths = []) {
    for (const length of lengths) this.#begun.set(length, length ? undefined : this.digest);
  }

  static async of(chunks, lengths) {
    const tally = new Tally(lengths);
    for await (const chunk of chunks) tally.#add(chunk);
    return tally;
  }

  #add(chunk) {
    for (const length of this.#begun.keys()) {
      if (this.bytes >= length || length > this.bytes + chunk.length) continue;
      this.#begun.set(length, hexOf('sha256', this.#sum.copy().update(chunk.subarray(0, length - this.bytes)).digest()));
    }
    this.#sum.update(chunk);
    this.bytes += chunk.length;
    this.lines += occurrences(chunk, '\n');
    const seen = Buffer.concat([this.#ending, chunk]);
    this.entries += occurrences(seen, ENTRY_END);
    this.#ending = seen.subarray(Math.max(0, seen.length - ENTRY_END.length + 1));
  }

  get digest() {
    return hexOf('sha256', this.#sum.copy().digest());
  }

  /** Whether the bytes begin with some that have a length and a digest. */
  beginsWith({ bytes, digest: expected }) {
    return this.#begun.get(bytes) === expected;
  }
}

const ENTRY_END = ',"v":1}\n';

function occurrences(data, sign) {
  let count = 0;
  for (let at = data.indexOf(sign); at >= 0; at = data.indexOf(sign, at + sign.length)) count += 1;
  return count;
}

function* copies(chunks) {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

/** A copy of a session cannot be unpacked whole. */
class Damaged extends Error {}

/** The sealed sessions of a ledger. What a manifest says of entries is not believed. */
class Segments {
  lengths; // by name: how long the latest copy of a session is
  unreadTwins = 0;
  #source;
  #manifests = [];
  #copies = new Map(); // name -> copies of the session, the oldest first
  #broken = [];

  constructor(source) {
    this.#source = source;
    const found = source.names('segments').map((name) => /^([0-9]{4}-[0-9]{2}-[0-9]{2})-([1-9][0-9]{0,8})$/.exec(name)).filter(Boolean);
    found.sort(([, day, number], [, other, another]) => byBytes(day, other) || number - another);
    for (const [stem] of found) {
      const folder = `segments/${stem}`;
      const manifest = manifestOf(source.whole(`${folder}/manifest.json`), stem);
      if (!manifest) {
        this.#broken.push({ entry: folder, session: null });
        continue;
      }
      const copies = manifest.sessions.map((said) => ({ ...said, file: `${folder}/${said.name}.jsonl`, pack: `${folder}/sessions.jsonl.gz` }));
      this.#manifests.push({ ...manifest, folder, copies });
      for (const copy of copies) addTo(this.#copies, copy.name, copy);
    }
    this.lengths = new Map([...this.#copies].map(([name, copies]) => [name, copies.at(-1).bytes]));
  }

  /** Yields the bytes of a copy, no more than it had. */
  async *#unpacked({ pack, offset, length, bytes }) {
    const member = createGunzip({ chunkSize: CHUNK });
    let left = bytes;
    if (!length || this.#source.size(pack) === undefined) throw new Damaged();
    pipeline(Readable.from(copies(this.#source.chunks(pack, offset, length))), member, () => {});
    try {
      for await (const chunk of member) {
        left -= chunk.length;
        if (left < 0) break;
        yield chunk;
      }
    } catch (error) {
      throw error.code?.startsWith('Z_') ? new Damaged() : error;
    }
    if (left !== 0 || member.bytesWritten !== length) throw new Damaged();
  }

  /** Counts a copy; undefined if it cannot be unpacked whole. */
  async #tally(copy, lengths) {
    try {
      return await Tally.of(this.#unpacked(copy), lengths);
    } catch (error) {
      if (error instanceof Damaged) return undefined;
      throw error;
    }
  }

  /** Yields the lines of a session from its latest copy; none if that cannot be unpacked whole. */
  async *read(name) {
    const copy = this.#copies.get(name)?.at(-1);
    if (copy && (await this.#tally(copy))) yield* readLines(this.#unpacked(copy), copy.file);
  }

  /** Yields what is not as a manifest says; `closes` are the sessions of session_close entries by digest. */
  async *damage(closes) {
    yield* this.#broken;
    for (const manifest of this.#manifests) {
      yield* this.#ofFiles(manifest);
      for (const copy of manifest.copies) {
        const tally = await this.#tally(copy);
        const same = tally && ['digest', 'lines', 'entries'].every((name) => tally[name] === copy[name]);
        if (!same || closes.get(copy.close) !== copy.session) yield { entry: copy.file, session: copy.session };
      }
    }
    for (const name of [...this.#copies.keys()].sort(byBytes)) yield* this.#ofCopies(name);
  }

  async *#ofFiles({ folder, pack, twin }) {
    for (const [name, said] of [['sessions.jsonl.gz', pack], ['entries.parquet', twin]]) {
      if (said === null) continue;
      const entry = `${folder}/${name}`;
      const tally = this.#source.size(entry) === undefined ? undefined : await Tally.of(this.#source.chunks(entry));
      if (tally?.bytes !== said.bytes || tally.digest !== said.digest) yield { entry, session: null };
      else if (said === twin) this.unreadTwins += 1;
    }
  }

  /** A session that went on after it was sealed must begin with what was sealed. */
  async *#ofCopies(name) {
    const copies = [...this.#copies.get(name)];
    const lengths = copies.map(({ bytes }) => bytes);
    const file = `sessions/${name}.jsonl`;
    const there = this.#source.size(file) !== undefined;
    const begun = there ? await Tally.of(this.#source.chunks(file), lengths) : await this.#tally(copies.pop(), lengths);
    for (const copy of begun ? copies : []) {
      if (!begun.beginsWith(copy)) yield { entry: copy.file, session: copy.session };
    }
  }
}

// ---------------------------------------------------------------- entries

/** How many findings of one code are listed; the others are counted. */
const MOST_OF_A_CODE = 1000;

/** What the three layers share: their findings. */
class Layer {
  seen = [];
  more = new Map(); // by code: how many findings beyond those that are listed
  most = MOST_OF_A_CODE;
  #counts = new Map();

  add(code, entry, session = null, turn = null) {
    const count = this.#counts.get(code) ?? 0;
    if (count >= this.most) this.more.set(code, (this.more.get(code) ?? 0) + 1);
    else this.seen.push({ code, entry, session, turn });
    this.#counts.set(code, Math.min(count + 1, this.most));
  }
}

const texts = listOf(text);
const orMissing = (check) => (value) => value === undefined || check(value);
const anyOrNull = (check) => orMissing(orNull(check));
const fieldsOf = (fields) => (value) => isObject(value) && Object.entries(fields).every(([name, check]) => check(value[name]));
const mapOf = (check) => (value) => isObject(value) && Object.values(value).every(check);

/** What is read of a policy. Its other keys are the gate's business. */
const isPolicy = fieldsOf({
  classes: orMissing(
    listOf(
      fieldsOf({
        name: text,
        tools: anyOrNull(texts),
        effects: anyOrNull(
          listOf(fieldsOf({ type: anyOrNull(texts), scope: anyOrNull(texts), reversible: anyOrNull(listOf(flag)), proof: anyOrNull(texts) })),
        ),
      }),
    ),
  ),
  composition: orMissing(
    mapOf(
      fieldsOf({
        operator: oneOf('all-of', 'any-of', 'staged'),
        principals: (value) => texts(value) && value.length > 0,
        n: orMissing((value) => natural(value) && value > 0),
      }),
    ),
  ),
  principals: orMissing(mapOf(texts)),
  authors: orMissing(texts),
  default: orMissing(text),
  rules: orMissing(listOf(fieldsOf({ rule: text, decide: text }))),
  overrides: orMissing(listOf(fieldsOf({ override: text, decide: text }))),
  lift: orMissing(
    fieldsOf({
      ask: orMissing(oneOf('person', 'never')),
      deny: orMissing(oneOf('person', 'never')),
      never: orMissing(texts),
      minutes: orMissing((value) => natural(value) && value > 0 && value <= 1440),
    }),
  ),
  authored_by: anyOrNull(fieldsOf({ name: text, key: text, authorizing_policy: orNull(text) })),
});

/** The policies a ledger holds, read once each. */
class Policies {
  announced = new Map(); // digest -> number of the spine entry that announced it first
  governed = new Map(); // digest -> the principals whose calls it decided
  #source;
  #read = new Map();

  constructor(source) {
    this.#source = source;
  }

  #load(version) {
    const data = this.#source.whole(`policies/${version.slice(7)}.json`);
    if (data === undefined) return { fault: 'entries.policy_unknown' };
    if (digestOf(data) !== version) return { fault: 'entries.policy_altered' };
    try {
      const policy = JSON.parse(decoder.decode(data));
      if (isPolicy(policy)) return { policy };
    } catch {
      // said below
    }
    return { fault: 'entries.policy_unknown' };
  }

  #kept(version) {
    return heldIn(this.#read, version, () => this.#load(version));
  }

  /** A policy that is held unaltered; undefined if there is none. */
  held(version) {
    return this.#kept(version).policy;
  }

  /** What is wrong with a policy that must be announced before a spine entry; undefined if nothing is. */
  fault(version, before) {
    const announced = this.announced.get(version);
    const late = announced === undefined || (before !== undefined && announced > before);
    return this.#kept(version).fault ?? (late ? 'entries.policy_unknown' : undefined);
  }

  /** What is kept as the signature of a policy's author. */
  signature(version) {
    return this.#source.whole(`policies/${version.slice(7)}.sig`);
  }
}

/** Whether a name fits a pattern in which `*` alone stands for any characters. */
function named(name, pattern) {
  const [first, ...parts] = pattern.split('*');
  if (!parts.length) return name === pattern;
  const last = parts.pop();
  if (!name.startsWith(first) || !name.endsWith(last)) return false;
  let at = first.length;
  const end = name.length - last.length;
  for (const part of parts) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= end;
}

/** The first class whose tools and effects fit. */
function classOf(classes, tool, effects) {
  const among = (values, value) => values == null || values.includes(value);
  const meets = (one, want) =>
    among(want.type, one.type) &&
    among(want.scope, one.scope) &&
    among(want.reversible, one.reversible) &&
    (among(want.proof, one.proof) || (one.proof.startsWith('unresolved(') && want.proof.includes('unresolved')));
  for (const { name, tools, effects: wanted } of classes) {
    if (tools?.length && !tools.some((pattern) => named(tool, pattern))) continue;
    if (!wanted?.length || effects.some((one) => wanted.some((want) => meets(one, want)))) return name;
  }
  return 'other';
}

/** The action_refs of all sessions, 32 bytes each, to find those that several sessions hold. */
class Refs {
  #data = Buffer.alloc(32 * 1024);
  #count = 0;

  /** Takes the action_refs of one session, each once. */
  add(refs) {
    for (const ref of refs) {
      if (this.#data.length === 32 * this.#count) this.#data = Buffer.concat([this.#data, Buffer.alloc(this.#data.length)]);
      this.#data.write(ref.slice(7), 32 * this.#count, 'hex');
      this.#count += 1;
    }
  }

  /** Those that were taken more than once, sorted. */
  repeated() {
    const data = this.#data;
    const order = (a, b) => data.compare(data, 32 * b, 32 * b + 32, 32 * a, 32 * a + 32);
    const sorted = Uint32Array.from({ length: this.#count }, (_, at) => at).sort(order);
    const found = new Set();
    for (let at = 1; at < sorted.length; at += 1) {
      const here = 32 * sorted[at];
      if (order(sorted[at - 1], sorted[at]) === 0) found.add(hexOf('sha256', data.subarray(here, here + 32)));
    }
    return [...found];
  }
}

/** What a decision_id covers. */
const COVERED = ['axis', 'basis', 'build', 'class', 'effects', 'facts', 'host', 'intent', 'mode', 'proof', 'rule'];

/** Layer 1: every entry is well formed and bound to what it rests on. */
class Entries extends Layer {
  #sessions = new Map();
  #policies;
  #approvals;
  #roots;
  #refs = new Refs();

  /** `roots` are policy digests and keys that are trusted to say who writes policies. */
  constructor(source, roots) {
    super();
    this.#policies = new Policies(source);
    this.#approvals = new Approvals((...finding) => this.add(...finding), this.#policies);
    this.#roots = roots;
  }

  #session(id) {
    const make = () => ({ opened: new Map(), closed: new Map(), byEvent: new Map(), byEntry: new Map(), denied: new Set(), refs: new Set(), outcomes: [] });
    return heldIn(this.#sessions, id, make);
  }

  bad(run, stream) {
    if (run.covered) return;
    // A torn end is a matter of the log.
    const lines = run.torn && run.total === run.lines.length ? run.lines.slice(0, -1) : run.lines;
    for (const { number, raw } of lines) this.add(diagnose(raw), `${run.file}:${number}`, stream);
    if (run.total > run.lines.length) this.add('entries.parse', `${run.file}:${run.last}`, stream);
  }

  take(line, stream) {
    const { entry } = line;
    if (entry.kind === 'decision') this.#decision(line, stream);
    else if (entry.kind === 'outcome') {
      if (stream === null || stream === entry.session) this.#session(entry.session).outcomes.push(line);
    } else if (stream !== null) return; // what belongs on the spine says nothing elsewhere
    else if (entry.kind === 'policy_set') heldIn(this.#policies.announced, entry.ev.policy, () => entry.seq);
    else if (entry.kind === 'turn_open') heldIn(this.#session(entry.session).opened, entry.turn, () => entry.seq);
    else if (entry.kind === 'turn_close') heldIn(this.#session(entry.session).closed, entry.turn, () => entry.seq);
    else this.#approvals.take(line);
  }

  #decision(line, stream) {
    const { entry } = line;
    const { ev } = entry;
    const add = (code) => this.add(code, line.digest, entry.session, entry.turn);
    const { basis, effects, intent: wanted } = entry;
    if (digestOf(canonical(wanted)) !== ev.action_ref) add('entries.action_ref');
    const covered = Object.fromEntries(COVERED.map((name) => [name, entry[name]]));
    if (digestOf(canonical(covered)) !== ev.decision_id) add('entries.decision_id');

    const held = this.#session(entry.session);
    const fault = this.#policies.fault(ev.policy_version, held.closed.get(entry.turn));
    const policy = this.#policies.held(ev.policy_version);
    if (fault) add(fault);
    else {
      heldIn(this.#policies.governed, ev.policy_version, () => new Set()).add(ev.principal);
      if (classOf(policy.classes ?? [], wanted.action_type, effects) !== entry.class) add('entries.class');
    }
    if (stream !== null && stream !== entry.session) return;

    const earlier = entry.parents.filter((parent) => held.byEntry.has(parent));
    if (earlier.length === 0) {
      const strictest = Math.max(0, ...effects.map((one) => SCOPES.indexOf(one.scope)));
      if (wanted.scope !== SCOPES[strictest]) add('entries.scope');
      if (held.refs.has(ev.action_ref) && !held.byEntry.has(line.digest)) add('entries.action_ref_reused');
    } else if (earlier.some((parent) => held.byEntry.get(parent) !== ev.action_ref)) {
      add('entries.intent_differs');
    }
    for (const item of basis) {
      const ref = held.byEvent.get(item);
      if (ref === undefined && !this.#approvals.entries.has(item)) add('entries.basis_unknown');
      else if (ref !== undefined && ref !== ev.action_ref) add('entries.basis_other_action');
      else if (held.denied.has(item) && ev.decision_state === 'allowed') add('entries.approval_refused');
    }
    const asks = basis.filter((item) => held.byEvent.has(item));
    this.#approvals.decision(line, asks, held.opened.get(entry.turn), held.closed.get(entry.turn));
    held.refs.add(ev.action_ref);
    held.byEntry.set(line.digest, ev.action_ref);
    held.byEvent.set(line.event, ev.action_ref);
    if (ev.decision_state !== 'allowed') this.#approvals.heldBack(entry);
    if (ev.decision_state === 'denied') held.denied.add(line.event);
  }

  endSession(session) {
    const held = this.#sessions.get(session);
    if (!held) return;
    this.#sessions.delete(session);
    for (const { digest: entry, entry: { ev } } of held.outcomes) {
      const ref = held.byEvent.get(ev.decision_digest);
      const code = ref === undefined ? 'entries.outcome_unbound' : 'entries.swapped_outcome';
      if (ref !== ev.action_ref) this.add(code, entry, session);
    }
    this.#refs.add(held.refs);
    this.#approvals.endSession(session, held.byEvent);
  }

  finish() {
    for (const session of [...this.#sessions.keys()]) this.endSession(session);
    for (const ref of this.#refs.repeated()) this.add('entries.action_ref_reused', ref);
    this.#approvals.finish();
    const authority = new Authority(this.#policies, this.#approvals.keys, this.#roots);
    for (const { code, entry } of authority.findings()) this.add(code, entry);
  }
}

// -------------------------------------------------------------- approvals

/** What a signature of an event covers: its canonical form without the signature itself. */
function signedPart(ev, without) {
  return Buffer.from(canonical(Object.fromEntries(Object.entries(ev).filter(([name]) => name !== without))));
}

/** Which keys speak for a principal: those a policy gives, as rotations replaced them. */
class Keys {
  #ended = new Map(); // principal and key -> the spine entry that retired it
  #origin = new Map(); // principal and key -> the key it replaced, and where

  /** Takes a rotation; says whether it counts. `policies` are the principals of each announced policy. */
  take({ seq, ev }, policies) {
    const { name, old, new: next } = ev;
    const over = signedPart(ev, 'signatures');
    const signed = old !== null && [old, next].every((key, at) => verifies(rawOf(key), rawOf(ev.signatures[at]), over));
    const retired = [old, next].some((key) => this.#ended.has(joined(name, key)));
    if (!signed || retired || old === next || this.#origin.has(joined(name, next))) return false;
    const owned = policies.some((held) => this.speak(name, old, held[name] ?? [], seq));
    const borrowed = policies.some((held) => Object.entries(held).some(([other, keys]) => other !== name && keys.includes(next)));
    if (!owned || borrowed) return false;
    this.#ended.set(joined(name, old), seq);
    this.#origin.set(joined(name, next), { old, seq });
    return true;
  }

  /** Whether a key is a principal's at a spine entry (Infinity: where that is not known). */
  speak(name, key, given, seq) {
    if (seq !== Infinity && this.#ended.get(joined(name, key)) < seq) return false;
    for (let at = key; !given.includes(at); ) {
      const before = this.#origin.get(joined(name, at));
      if (!before || before.seq >= seq) return false;
      at = before.old;
    }
    return true;
  }
}

/** Approvals, or refusals, by principal and by what they name. */
class Given {
  #found = new Map();

  add(item) {
    const { principal, decision_digest, args_digest, class: name, session } = item.ev;
    addTo(this.#found, joined(principal, decision_digest, args_digest, name, session), item);
  }

  /** The latest by a principal about a decision, between two spine entries, of those that count. */
  about(one, principal, after, before, counts) {
    let places = [[principal]];
    for (const values of [one.asks, [one.args], [one.class], [one.session]]) {
      places = places.flatMap((place) => [null, ...values].map((value) => [...place, value]));
    }
    // What others sign in a principal's name must not stand before what the principal signed.
    const within = (item) => after < item.seq && item.seq < before && counts(item);
    return places.flatMap((place) => (this.#found.get(joined(...place)) ?? []).filter(within).slice(-64));
  }
}

/** Whether approvals that are good by themselves make one, as a rule wants it. */
function satisfies(rule, good) {
  const listed = good.filter((item) => rule.principals.includes(item.ev.principal));
  if (rule.operator === 'staged') {
    const follows = (item, at) =>
      item.ev.principal === rule.principals[at] &&
      item.parents.length === Math.min(at, 1) &&
      (at === 0 || item.parents[0] === listed[at - 1].entry);
    return listed.length === rule.principals.length && listed.every(follows);
  }
  // One key signs for one principal, so whoever is counted is counted by key and by name.
  const many = Math.min(new Set(listed.map(({ ev }) => ev.principal)).size, new Set(listed.map(({ ev }) => ev.key)).size);
  return many >= (rule.operator === 'all-of' ? new Set(rule.principals).size : rule.n ?? 1);
}

/** What somebody who is asked about a call can see of it. */
function matterOf({ ev, class: name, rule, effects }) {
  return digestOf(canonical([ev.args_digest, name, rule, effects]));
}

/** Whether a policy lets signatures lift what it asks about or denies by a rule. */
function mayLift({ rule: name, tampers, seenAt }, policy, signed) {
  const { ask = 'person', deny = 'never', never = [], minutes = 60 } = policy.lift ?? {};
  const named = [...(policy.rules ?? []), ...(policy.overrides ?? [])];
  const found = named.find(({ rule, override }) => (rule ?? override) === name)?.decide;
  const answer = name === 'default' ? policy.default ?? 'ask' : found;
  if (tampers || !['ask', 'deny'].includes(answer) || never.includes(name)) return false;
  const within = ({ ev }) =>
    ev.class !== null && (ev.args_digest === null ? answer === 'ask' : seenAt <= ev.ts) && ev.expiry - ev.ts <= minutes * 60e6;
  return (answer === 'ask' ? ask : deny) === 'person' && signed.every(within);
}

/** The approvals of a ledger, and the decisions that rest on them. */
class Approvals {
  entries = new Map(); // entry digest -> approval
  keys = new Keys();
  #add;
  #policies;
  #named = new Map(); // decision_digest that no session was seen to hold yet -> approval
  #rotations = [];
  #signatures = new Map();
  #cited = new Map(); // approval -> where which decision is said to use it up
  #resting = new Map();
  #answers = new Map();
  #matters = new Map(); // session -> what was asked about or denied -> when first
  #approving = new Given();
  #refusing = new Given();
  #refused = new Map(); // ask -> refusals that name it

  /** `add` takes a finding. */
  constructor(add, policies) {
    this.#add = add;
    this.#policies = policies;
  }

  /** Takes an entry of the spine that approvals have to do with. */
  take({ digest: name, entry }) {
    const { kind, seq, ev } = entry;
    if (kind === 'approval') this.#approval(name, entry);
    else if (kind === 'key_rotate' && ev.role === 'approver') this.#rotations.push({ entry: name, seq, ev });
    else if (kind === 'audit' && ev.action === 'approval.cited' && Array.isArray(ev.details.approvals)) {
      for (const item of ev.details.approvals) addTo(this.#cited, item, { event: ev.target, seq });
    }
  }

  #approval(name, { seq, parents, session, ev }) {
    const item = { entry: name, seq, parents, ev, sound: true };
    if (ev.evidence === 'signature') {
      item.sound = verifies(rawOf(ev.key), rawOf(ev.sig), signedPart(ev, 'sig'));
      if (!item.sound) this.#add('entries.approval_signature', name, session);
      if (this.#signatures.has(ev.sig) && this.#signatures.get(ev.sig) !== name) {
        item.sound = false;
        this.#add('entries.approval_reused', name, session);
      } else this.#signatures.set(ev.sig, name);
    }
    if (parents.length > 1 || (parents.length === 1 && !this.entries.has(parents[0]))) {
      this.#add('entries.approval_order', name, session);
    }
    if (ev.decision_digest !== null) this.#named.set(ev.decision_digest, name);
    this.entries.set(name, item);
    item.signed = item.sound && ev.evidence === 'signature';
    if (item.sound && ev.verdict !== 'approve' && ev.decision_digest !== null) addTo(this.#refused, ev.decision_digest, item);
    if (item.signed) (ev.verdict === 'approve' ? this.#approving : this.#refusing).add(item);
  }

  /** Takes a decision: the asks in its basis, and the spine entries that open and close its turn. */
  decision({ digest: name, event, entry }, asks, opened, closed) {
    const { session, turn, ev, basis, rule } = entry;
    const answers = heldIn(this.#answers, session, () => new Map());
    for (const ask of asks) {
      const before = answers.get(ask) ?? name;
      if (before !== name && !entry.parents.includes(before)) this.#add('entries.ask_twice', name, session, turn);
      answers.set(ask, name);
    }
    const composed = this.#rule(ev.policy_version, entry.class) && (ev.decision_state === 'allowed' || rule === 'composition');
    const refused = ev.decision_state === 'allowed' && asks.some((ask) => this.#refused.has(ask));
    if (asks.length === basis.length && !composed && !refused) return;
    this.#resting.set(name, {
      entry: name, event, session, turn, rule, asks, basis, class: entry.class, ts: entry.ts,
      after: entry.seq ?? opened ?? 0, // the spine entry that stands before it for certain
      until: entry.seq ?? closed ?? Infinity, // and the one behind it
      state: ev.decision_state, policy: ev.policy_version, args: ev.args_digest, ref: ev.action_ref,
      tampers: entry.effects.some(({ type }) => type === 'gate.tamper'),
      seenAt: this.#matters.get(session)?.get(matterOf(entry)) ?? Infinity,
    });
  }

  /** Takes a decision that was asked about or denied: somebody may sign for it later. */
  heldBack(entry) {
    const matters = heldIn(this.#matters, entry.session, () => new Map());
    heldIn(matters, matterOf(entry), () => entry.ts);
  }

  #rule(version, name) {
    const rules = this.#policies.held(version)?.composition ?? {};
    return Object.hasOwn(rules, name) ? rules[name] : undefined;
  }

  endSession(session, decisions) {
    this.#answers.delete(session);
    this.#matters.delete(session);
    for (const known of this.#named.keys()) if (decisions.has(known)) this.#named.delete(known);
  }

  /** Judges the approvals and everything that rests on them, once all was read. */
  finish() {
    for (const name of this.#named.values()) {
      this.#add('entries.approval_unbound', name, this.entries.get(name).ev.session);
    }
    const announced = [...this.#policies.announced.keys()].map((version) => this.#policies.held(version));
    const principals = announced.filter(Boolean).map((policy) => policy.principals ?? {});
    for (const one of this.#rotations) {
      if (!this.keys.take(one, principals)) this.#add('entries.approval_key', one.entry);
    }
    const users = new Map(); // what is cited -> the action that used it first
    for (const one of [...this.#resting.values()].sort((a, b) => a.ts - b.ts)) {
      if (one.state !== 'allowed') continue;
      for (const item of one.basis) if (!users.has(item)) users.set(item, one.ref);
    }
    for (const one of this.#resting.values()) {
      const policy = this.#policies.held(one.policy);
      if (!policy) continue;
      const cited = one.basis.filter((item) => this.entries.has(item)).map((item) => this.entries.get(item));
      if (one.state === 'allowed') this.#allowed(one, policy, cited, users);
      else if (one.state === 'denied') this.#denied(one, policy, cited, users);
    }
  }

  #about(one, code) {
    this.#add(code, one.entry, one.session, one.turn);
  }

  #allowed(one, policy, cited, users) {
    const good = [];
    for (const item of cited) {
      const fault = this.#fault(one, policy, item) ?? this.#spent(one, policy, item, users);
      if (fault) this.#about(one, fault);
      else if (item.sound) good.push(item);
    }
    if (good.length === cited.length) this.#answered(one, policy, good);
    const people = new Set();
    const again = cited.some(({ ev }) => {
      const mine = [`name ${ev.principal}`, `key ${ev.key ?? ev.principal}`];
      const known = mine.some((one) => people.has(one));
      for (const one of mine) people.add(one);
      return known;
    });
    if (again) this.#about(one, 'entries.approver_twice');
    if (cited.some((item, at) => at > 0 && cited[at - 1].seq > item.seq)) this.#about(one, 'entries.approval_order');
    const rule = this.#rule(one.policy, one.class);
    const signed = good.filter((item) => item.signed);
    if (!rule && !one.asks.length && signed.length && !mayLift(one, policy, signed)) this.#about(one, 'entries.approval_lift');
    if (!rule || satisfies(rule, signed)) return;
    const all = rule.principals.every((name) => signed.some(({ ev }) => ev.principal === name));
    this.#about(one, rule.operator === 'staged' && all ? 'entries.approval_order' : 'entries.composition_unmet');
  }

  /** An ask that was refused stays so unless somebody approved it later; a host's word is none against a signature. */
  #answered(one, policy, good) {
    const stands = (item) =>
      (!item.signed || this.#speaks(policy, item.ev, item.seq)) &&
      item.seq < one.until &&
      item.ev.ts <= one.ts &&
      !good.some((given) => given.seq > item.seq && given.signed >= item.signed);
    if (one.asks.flatMap((ask) => this.#refused.get(ask) ?? []).some(stands)) this.#about(one, 'entries.approval_refused');
  }

  /** What is wrong with an approval that a decision cites, by itself. */
  #fault(one, policy, { ev, sound, seq }) {
    const approves = ev.verdict === 'approve';
    if (!approves && one.state === 'allowed') return 'entries.approval_refused';
    const bound =
      [null, one.args].includes(ev.args_digest) &&
      [null, one.class].includes(ev.class) &&
      [null, one.session].includes(ev.session) &&
      [null, ...one.asks].includes(ev.decision_digest);
    if (!bound) return 'entries.approval_other';
    if (ev.evidence === 'telemetry') return ev.decision_digest === null ? 'entries.approval_other' : undefined;
    if (sound && !this.#speaks(policy, ev, seq)) return 'entries.approval_key';
    return approves && one.ts > ev.expiry ? 'entries.approval_expired' : undefined;
  }

  /** Whether an approval was taken back, or used up, before a decision cites it. */
  #spent(one, policy, item, users) {
    let at = one.after;
    for (const name of one.basis) {
      if (!this.entries.has(name)) continue;
      const uses = (this.#cited.get(name) ?? []).filter(({ event }) => event === one.event);
      at = Math.max(at, this.entries.get(name).seq, ...uses.map(({ seq }) => seq));
    }
    if (this.#takenBack(one, policy, item, at)) return 'entries.approval_refused';
    return (users.get(item.entry) ?? one.ref) === one.ref ? undefined : 'entries.approval_reused';
  }

  #takenBack(one, policy, { ev, seq }, before) {
    return this.#refusing.about(one, ev.principal, seq, before, (other) => this.#speaks(policy, other.ev, other.seq)).length > 0;
  }

  #denied(one, policy, cited, users) {
    const refusals = cited.filter(({ ev }) => ev.verdict !== 'approve');
    for (const item of refusals) {
      const fault = this.#fault(one, policy, item);
      if (fault) this.#about(one, fault);
    }
    // An ask of a class without a rule takes one approval of anybody the policy names.
    const anybody = one.asks.length ? { operator: 'any-of', principals: Object.keys(policy.principals ?? {}) } : undefined;
    const rule = this.#rule(one.policy, one.class) ?? anybody;
    if (!rule || refusals.length) return;
    const met = satisfies(rule, cited.filter((item) => this.#counts(one, policy, item)));
    if (met || (one.rule === 'composition' && this.#had(one, policy, rule, users))) this.#about(one, 'entries.composition_denied');
  }

  #counts(one, policy, item) {
    return item.ev.verdict === 'approve' && item.signed && this.#fault(one, policy, item) === undefined;
  }

  /** Whether unused approvals that satisfy a rule stood there for certain. */
  #had(one, policy, rule, users) {
    const there = rule.principals
      .flatMap((name) => this.#approving.about(one, name, 0, one.after, ({ ev, seq }) => this.#speaks(policy, ev, seq)))
      .filter((item) => !users.has(item.entry) && !this.#cited.has(item.entry))
      .filter((item) => this.#counts(one, policy, item) && !this.#takenBack(one, policy, item, one.until));
    if (rule.operator !== 'staged') return satisfies(rule, there);
    const lines = new Map(); // the sequences that end in each of them
    for (const item of there.sort((a, b) => a.seq - b.seq)) {
      const before = item.parents.length ? lines.get(item.parents[0]) : [];
      if (before) lines.set(item.entry, [...before, item]);
    }
    return [...lines.values()].some((line) => satisfies(rule, line));
  }

  #speaks(policy, ev, seq) {
    const given = policy.principals ?? {};
    return this.keys.speak(ev.principal, ev.key, Object.hasOwn(given, ev.principal) ? given[ev.principal] : [], seq);
  }
}

// -------------------------------------------------------------- authority

/** Who wrote each policy that decided, and who let them. */
class Authority {
  #policies;
  #keys;
  #roots;

  constructor(policies, keys, roots) {
    this.#policies = policies;
    this.#keys = keys;
    this.#roots = roots;
  }

  /** Follows a policy's chain of authors to its end: a root, itself, or nobody. */
  #chain(version) {
    const edges = [];
    const isSound = ({ fault }) => fault === null || fault === 'above';
    for (let at = version; at !== null; ) {
      if (this.#roots.includes(at)) return { version, edges, status: edges.every(isSound) ? 'ROOTED' : 'UNROOTED' };
      const author = this.#policies.held(at)?.authored_by;
      if (!author) break;
      const edge = { policy: at, ...author, fault: this.#fault(at, author) };
      edges.push(edge);
      at = author.authorizing_policy;
      if (this.#roots.includes(edge.key) && isSound(edge)) {
        return { version, edges, status: edges.every(isSound) ? 'ROOTED' : 'UNROOTED' };
      }
    }
    const last = edges.at(-1);
    const loops = edges.slice(0, -1).some(({ name, key }) => name === last.name || key === last.key);
    const closes = edges.every(({ fault }) => fault === null);
    return { version, edges, status: !loops ? 'UNROOTED' : closes ? 'LOOP_CLOSES' : 'LOOP_OPEN' };
  }

  /** Why an edge does not recompute; `above`: because the authorizing policy is not held. */
  #fault(version, { name, key, authorizing_policy: above }) {
    const data = this.#policies.signature(version);
    const body = data && data.length <= 4096 ? strictly(data) : undefined;
    const formed = closed({ key: publicKey, sig: signature })(body);
    if (!formed || body.key !== key || !verifies(rawOf(key), rawOf(body.sig), Buffer.from(version))) return 'signature';
    if (above === null) return null;
    const policy = this.#policies.held(above);
    if (!policy) return 'above';
    const given = policy.principals ?? {};
    const keys = Object.hasOwn(given, name) ? given[name] : [];
    const seq = this.#policies.announced.get(version) ?? Infinity;
    return policy.authors?.includes(name) && this.#keys.speak(name, key, keys, seq) ? null : 'author';
  }

  findings() {
    const found = [];
    const told = new Set();
    const chains = [...this.#policies.governed.keys()].sort().map((version) => this.#chain(version));
    // A loop first: an edge of it that does not recompute is a fault of the loop.
    const open = (chain) => Number(chain.status !== 'LOOP_OPEN');
    for (const { version, edges, status } of chains.sort((a, b) => open(a) - open(b))) {
      for (const { policy, fault } of edges) {
        const spared = status === 'ROOTED' && fault === 'above'; // above a root nothing is asked for
        if (fault === null || told.has(policy) || spared) continue;
        told.add(policy);
        found.push({ code: status === 'LOOP_OPEN' ? 'entries.authority_loop' : 'entries.authority_edge', entry: policy });
      }
      const names = new Set(edges.map(({ name }) => name));
      const governs = (name) => [name, `user:${name}`].some((one) => this.#policies.governed.get(version).has(one));
      if (names.size === 1 && status !== 'ROOTED' && [...names].some(governs)) {
        found.push({ code: 'entries.authority_self', entry: version });
      }
      if (this.#roots.length && status !== 'ROOTED') found.push({ code: 'entries.authority_unrooted', entry: version });
    }
    return found;
  }
}

// -------------------------------------------------------------------- log

/** The entries of one session's turns, in the order they were written. */
class Graph {
  turn = null;
  #add;
  #session;
  #approvals; // entry digest -> time
  #judged; // entry digest of a judge's answer -> its session
  #nodes = new Map(); // entry digest -> {ts, turn, decides, answers}
  #openings = new Set(); // digests of the turn_opens so far
  #calls = new Map(); // decision_digest -> call
  #late = [];
  #endedLate = new Map(); // decision_digest -> the last turn opened before its late outcome
  #count = 0;
  #own = new Set();
  #named = new Set();

  /** `add` takes a finding of the session: code, entry, turn. */
  constructor(session, add, approvals, judged) {
    this.#session = session;
    this.#add = add;
    this.#approvals = approvals;
    this.#judged = judged;
  }

  begin(turn) {
    this.turn = turn;
    this.#openings.add(turn.digest);
    this.#count = 0;
    this.#own = new Set();
    this.#named = new Set();
  }

  /** Compares the turn with what its close says, if it has one. */
  end() {
    const { turn } = this;
    this.turn = null;
    if (turn === null) return;
    if (this.#count > MAX_TURN_ENTRIES) this.#add('log.turn_limit', turn.digest, turn.number);
    if (!turn.close) return;
    if (this.#count !== turn.close.ev.count) this.#add('log.count', turn.close.digest, turn.number);
    const frontier = [...this.#own].filter((entry) => !this.#named.has(entry)).sort();
    if (hexOf('sha256', rootOver(frontier)) !== turn.close.ev.root) this.#add('log.root', turn.close.digest, turn.number);
  }

  /** Keeps an outcome that came after its turn; `opened` is the last turn opened before it. */
  late(line, opened) {
    const { ts, ev } = line.entry;
    this.#nodes.set(line.digest, { ts, turn: null, answers: ev.decision_digest });
    this.#late.push({ line, opened });
    if (ev.terminal_state !== 'unresolved') heldIn(this.#endedLate, ev.decision_digest, () => opened);
  }

  /** Takes an entry of the turn. */
  place(line) {
    const { entry } = line;
    const { turn } = this;
    this.#count += 1;
    if (this.#nodes.has(line.digest)) {
      this.#add('log.duplicate_entry', line.digest, turn.number);
      return;
    }
    const node = { ts: entry.ts, turn: turn.number };
    if (entry.kind === 'decision') {
      this.#decision(line, turn);
      node.decides = line.event;
      this.#calls.set(line.event, { entry: line.digest, state: entry.ev.decision_state, turn: turn.number, replaced: false, outcomes: [] });
    } else if (entry.kind === 'outcome') {
      this.#outcome(line);
      node.answers = entry.ev.decision_digest;
    } else if (entry.parents.length !== 1 || entry.parents[0] !== turn.digest) {
      this.#strange(line, entry.parents.filter((parent) => parent !== turn.digest));
    }
    this.#nodes.set(line.digest, node);
    this.#own.add(line.digest);
    for (const parent of entry.parents) this.#named.add(parent);
  }

  #decision(line, turn) {
    const { entry } = line;
    const strange = [];
    let atHome = false; // whether it hangs on its own turn
    for (const item of entry.basis) {
      const late = entry.ts < this.#approvals.get(item) && !entry.parents.includes(item);
      if (late) this.#add('log.clock_backwards', line.digest, entry.turn);
    }
    for (const parent of entry.parents) {
      const node = this.#nodes.get(parent);
      if (parent === turn.digest) {
        atHome = true;
        // A decision that names others as well is held to the clocks of those.
        if (entry.parents.length === 1 && entry.ts < turn.ts) this.#add('log.clock_backwards', line.digest, entry.turn);
      } else if (this.#approvals.has(parent)) {
        if (entry.ts < this.#approvals.get(parent)) this.#add('log.clock_backwards', line.digest, entry.turn);
      } else if (node?.decides === undefined) {
        strange.push(parent);
      } else {
        atHome ||= node.turn === turn.number;
        const call = this.#calls.get(node.decides);
        const ended = call.outcomes.some(({ state }) => state !== 'unresolved') || this.#endedLate.get(node.decides) < turn.number;
        if (ended) strange.push(parent);
        call.replaced = true;
        if (entry.ts < node.ts) this.#add('log.clock_backwards', line.digest, entry.turn);
      }
    }
    if (strange.length || !atHome) this.#strange(line, strange);
    for (const fact of entry.facts) {
      const known = this.#nodes.has(fact.entry) || this.#openings.has(fact.entry)
        || this.#judged.get(fact.entry) === this.#session;
      if (!known) this.#add('log.fact_unknown', line.digest, null);
    }
  }

  /** An outcome names its decision, and an outcome of that decision which it replaces. */
  #outcome(line, opened = Infinity) {
    const { entry } = line;
    const event = entry.ev.decision_digest;
    const call = this.#calls.get(event);
    const strange = [];
    const unknown = [];
    let found = false;
    for (const parent of entry.parents) {
      const node = this.#nodes.get(parent);
      if (node === undefined || (node.turn ?? 0) > opened) {
        unknown.push(parent);
        continue;
      }
      if (parent === call?.entry) found = true;
      else if (call && node.answers !== event) strange.push(parent);
      if (entry.ts < node.ts) this.#add('log.clock_backwards', line.digest, entry.turn);
    }
    call?.outcomes.push({ state: entry.ev.terminal_state, digest: line.digest, parents: entry.parents });
    if (unknown.length) this.#add('log.parent_unknown', line.digest, entry.turn);
    else if (strange.length) this.#add('log.parent_foreign', line.digest, entry.turn);
    else if (call && !found) this.#add('log.outcome_parent', line.digest, entry.turn);
  }

  #strange(line, parents) {
    const unknown = parents.some((parent) => !this.#nodes.has(parent));
    this.#add(unknown ? 'log.parent_unknown' : 'log.parent_foreign', line.digest, line.entry.turn);
  }

  /** Judges what every decision has for an outcome, now that the session was read. */
  finish(executes, isClosed) {
    for (const { line, opened } of this.#late) this.#outcome(line, opened);
    for (const call of this.#calls.values()) {
      const final = call.outcomes.filter((one) => one.state !== 'unresolved');
      const unresolved = call.outcomes.filter((one) => one.state === 'unresolved');
      const unnamed = final.length && unresolved.length && !final[0].parents.includes(unresolved[0].digest);
      if (final.length > 1 || unresolved.length > 1 || unnamed) this.#add('log.two_outcomes', call.entry, call.turn);
      if (call.state !== 'allowed' || call.replaced || final.length || !executes) continue;
      if (unresolved.length || isClosed) this.#add('log.orphan_allow', call.entry, call.turn);
    }
  }
}

/** Layer 2: nothing between the first entry and the head is missing. */
class Log extends Layer {
  head = { seq: 0, digest: GENESIS };
  holdsPin = false;
  #pin;
  #before;
  #sessions = new Map();
  #approvals = new Map();
  #judged = new Map();
  #sealed = false;
  #file;

  constructor(pin, anchors) {
    super();
    this.#pin = pin;
    this.heads = new Heads(anchors, (code, entry) => this.add(code, entry));
  }

  /** The number of the last spine entry that something kept outside binds. */
  get covered() {
    return Math.max(this.holdsPin ? this.#pin.seq : 0, this.heads.covered);
  }

  /** Notes that a segment is not what its manifest says. */
  segment({ entry, session }) {
    this.add('log.segment', entry, session);
  }

  bad(run, stream) {
    this.#sealed = run.covered;
    if (!run.torn) return;
    // No writer ever writes to the file of a linear session, so none was interrupted.
    const code = this.#sessions.get(stream)?.linear ? 'log.shape' : 'log.fragment';
    this.add(code, `${run.file}:${run.last}`, stream);
  }

  take(line, stream) {
    const { entry } = line;
    const sealed = this.#sealed;
    this.#sealed = false;
    if (entry.kind === 'recovery' && !sealed) this.add('log.false_recovery', line.digest, entry.session, entry.turn);
    if (stream === null) this.#spine(line);
    else this.#inFile(line, stream);
  }

  // -- the spine

  #spine(line) {
    const { entry } = line;
    if (line.file !== this.#file) {
      this.#file = line.file;
      const named = line.file === `spine-${String(entry.seq).padStart(12, '0')}.jsonl`;
      if (!named && entry.seq === this.head.seq + 1) this.add('log.spine_broken', line.digest);
    }
    if (entry.prev_digest !== this.head.digest || entry.seq !== this.head.seq + 1) {
      const forked = entry.prev_digest !== undefined && entry.prev_digest === this.#before;
      this.add(forked ? 'log.fork' : 'log.spine_broken', line.digest);
    }
    this.#before = entry.prev_digest;
    const prior = this.head;
    this.head = { seq: entry.seq ?? this.head.seq + 1, digest: line.digest };
    this.holdsPin ||= this.#pin?.seq === this.head.seq && this.#pin.digest === this.head.digest;
    this.heads.entry(this.head);
    switch (entry.kind) {
      case 'key_rotate': case 'checkpoint': this.heads.take(line, prior); break;
      case 'approval': this.#approvals.set(line.digest, entry.ts); break;
      case 'session_open': this.#sessionOpen(line); break;
      case 'turn_open': this.#turnOpen(line); break;
      case 'turn_close': this.#turnClose(line); break;
      case 'session_close': this.#sessionClose(line); break;
      case 'decision': case 'outcome': this.#call(line); break;
      case 'recovery': if (entry.session !== null) this.add('log.shape', line.digest, entry.session); break;
      case 'audit': if (entry.ev.action === 'judge.asked') this.#judged.set(line.digest, entry.session); break;
      default: // policy_set: its place in the chain is all there is
    }
  }

  #sessionOpen(line) {
    const { entry: { session, parents, ts, ev } } = line;
    const held = heldIn(this.#sessions, session, () => ({
      graph: new Graph(session, (code, entry, turn) => this.add(code, entry, session, turn), this.#approvals, this.#judged),
      opened: null, closed: null, part: 0, linear: false, executes: true,
      turns: [], turn: null, keys: new Map(), places: new Map(),
    }));
    const expected = held.closed ? [held.closed.digest] : [];
    const linked = parents.length === expected.length && parents.every((parent, at) => parent === expected[at]);
    if (held.opened || ev.part !== held.part + 1 || !linked) this.add('log.session_link', line.digest, session);
    this.#clock(line, held.closed);
    const linear = ev.shape === 'linear';
    if (!held.part) held.linear = linear;
    else if (linear !== held.linear) this.add('log.shape', line.digest, session);
    else if (ev.executes !== held.executes) this.add('log.session_link', line.digest, session);
    held.opened = { digest: line.digest, ts };
    held.part = ev.part;
    held.executes = ev.executes;
  }

  #turnOpen(line) {
    const { entry } = line;
    const held = this.#open(line);
    if (!held) return;
    this.#unclosed(held, entry.session);
    const last = held.turns.at(-1)?.number ?? 0;
    const part = (held.keys.get(entry.ev.key) ?? 0) + 1;
    if (entry.turn !== last + 1 || entry.ev.part !== part) this.add('log.turn_gap', line.digest, entry.session);
    this.#parent(line, held.opened);
    held.keys.set(entry.ev.key, Math.max(part, entry.ev.part));
    held.turn = { number: entry.turn, digest: line.digest, ts: entry.ts, close: null };
    heldIn(held.places, entry.turn, () => held.turns.length);
    held.turns.push(held.turn);
    if (held.linear) held.graph.begin(held.turn);
  }

  #turnClose(line) {
    const { entry } = line;
    const held = this.#open(line);
    if (!held) return;
    if (held.turn?.number !== entry.turn) {
      this.add('log.not_open', line.digest, entry.session, entry.turn);
      return;
    }
    this.#parent(line, held.turn);
    if (entry.ev.ledger_head_digest !== entry.prev_digest) this.add('log.head_digest', line.digest, entry.session, entry.turn);
    held.turn.close = { digest: line.digest, ev: entry.ev };
    this.#endTurn(held);
  }

  #sessionClose(line) {
    const { entry } = line;
    this.heads.close(entry.seq, line.digest);
    const held = this.#open(line);
    if (!held) return;
    this.#unclosed(held, entry.session);
    this.#parent(line, held.opened);
    if (entry.ev.ledger_head_digest !== entry.prev_digest) this.add('log.head_digest', line.digest, entry.session);
    held.opened = null;
    held.closed = { digest: line.digest, ts: entry.ts };
  }

  /** Takes a decision or outcome that lies on the spine. */
  #call(line) {
    const { entry } = line;
    const held = this.#sessions.get(entry.session);
    if (!held) this.add('log.session_unknown', line.digest, entry.session);
    else if (entry.kind === 'outcome' && entry.turn === null) held.graph.late(line, held.turns.at(-1)?.number ?? 0);
    else if (!held.linear) this.add('log.shape', line.digest, entry.session, entry.turn);
    else if (held.turn?.number !== entry.turn) this.add('log.not_open', line.digest, entry.session, entry.turn);
    else held.graph.place(line);
  }

  /** The session of an entry, if it is open. */
  #open(line) {
    const { entry } = line;
    const held = this.#sessions.get(entry.session);
    if (held?.opened) return held;
    this.add('log.not_open', line.digest, entry.session, entry.turn);
    return undefined;
  }

  #unclosed(held, session) {
    if (!held.turn) return;
    this.add('log.turn_not_closed', held.turn.digest, session);
    this.#endTurn(held);
  }

  #endTurn(held) {
    held.turn = null;
    if (held.linear) held.graph.end();
  }

  #parent(line, expected) {
    const { entry } = line;
    if (entry.parents.length !== 1 || entry.parents[0] !== expected.digest) {
      this.add('log.parent_unknown', line.digest, entry.session, entry.turn);
    }
    this.#clock(line, expected);
  }

  #clock(line, earlier) {
    const { entry } = line;
    if (earlier && entry.ts < earlier.ts) this.add('log.clock_backwards', line.digest, entry.session, entry.turn);
  }

  // -- a session's file

  /** Turns to a session's file; `name` is null when it holds nothing. */
  beginSession(session, name, known) {
    this.#sealed = false;
    if (!known) {
      this.add('log.session_unknown', `sessions/${name}.jsonl`, session);
      return;
    }
    const held = this.#sessions.get(session);
    const expected = held.turns.some((turn) => turn.close?.ev.count);
    if (name === null && expected && !held.linear) this.add('log.file_missing', held.turns[0].digest, session);
  }

  #inFile(line, session) {
    const { entry } = line;
    const held = this.#sessions.get(session);
    if (!held) return;
    if (entry.session !== session) {
      this.add('log.session_mismatch', line.digest, session, entry.turn);
      return;
    }
    if (held.linear || !['decision', 'outcome', 'recovery'].includes(entry.kind)) {
      this.add('log.shape', line.digest, session, entry.turn);
      return;
    }
    if (entry.seq !== undefined) this.add('log.shape', line.digest, session, entry.turn);
    const number = entry.turn ?? 0;
    const now = held.graph.turn;
    if (now?.number !== number) {
      const at = held.places.get(number);
      const code = now && number < now.number ? 'log.turn_order' : at === undefined ? 'log.not_open' : null;
      if (code) {
        this.add(code, line.digest, session, number);
        return;
      }
      this.#passOver(held, at);
      held.graph.begin(held.turns[at]);
    }
    held.graph.place(line);
  }

  /** Ends the turn being read, and holds the turns without entries to that. */
  #passOver(held, before) {
    const now = held.graph.turn;
    const first = now ? held.places.get(now.number) + 1 : 0;
    held.graph.end();
    for (const turn of held.turns.slice(first, before)) {
      held.graph.begin(turn);
      held.graph.end();
    }
  }

  /** Settles a session, now that its file was read. */
  endSession(session) {
    const held = this.#sessions.get(session);
    if (!held) return;
    this.#sessions.delete(session);
    if (!held.linear) this.#passOver(held, held.turns.length);
    held.graph.finish(held.executes, held.opened === null);
    if (held.turn) this.add('log.turn_open', held.turn.digest, session, held.turn.number);
    if (held.opened) this.add('log.session_open', held.opened.digest, session);
  }

  finish() {
    this.heads.finish(this.head);
    if (this.#pin && !this.holdsPin) this.add('log.head', this.#pin.digest);
  }
}

// ------------------------------------------------------------ checkpoints

const NOTHING_KEPT = { checkpoints: [], key: null, witnesses: [] };

/** The log of sessions, while the spine is read: its leaves, its keys, its checkpoints. */
class Heads {
  origin = null;
  covered = 0;
  #anchors;
  #add;
  #tree = new Tree();
  #keys = [];
  #copies;
  #last = null; // the last checkpoint entry that is as it must be

  /** `anchors` is what was kept outside; `add` takes a finding. */
  constructor(anchors, add) {
    this.#anchors = anchors;
    this.#add = add;
    this.#copies = anchors.checkpoints.map((kept) => ({ ...kept, rootAt: null, closedAt: 0, entryAt: null }));
    this.#noteRoot(0);
  }

  #noteRoot(seq) {
    for (const copy of this.#copies) {
      if (copy.said.size === this.#tree.size) Object.assign(copy, { rootAt: this.#tree.root(), closedAt: seq });
    }
  }

  /** Notes a spine entry that a checkpoint kept outside names. */
  entry({ seq, digest: entry }) {
    for (const copy of this.#copies) {
      if (copy.said.spine?.seq === seq && (copy.entryAt === null || copy.said.spine.digest === entry)) copy.entryAt = entry;
    }
  }

  /** Takes the end of a session. */
  close(seq, entry) {
    this.#tree.append(rawOf(entry));
    this.#noteRoot(seq);
  }

  /** Takes a key_rotate or checkpoint entry; `prior` is the spine entry before it. */
  take(line, prior) {
    const { entry: { kind, seq, ev } } = line;
    if (kind === 'checkpoint') {
      const note = parseNote(Buffer.from(ev.text));
      if (!this.#holds(note, prior)) this.#add('log.checkpoint', line.digest);
      else this.#last = { seq, text: note.text };
    } else if (ev.role === 'checkpoint') {
      if (!this.#follows(ev)) {
        this.#add('log.key_rotation', line.digest);
        return;
      }
      this.origin = ev.name;
      this.#keys.push(keyOf(ev.name, LOG_KEY, rawOf(ev.new)));
    }
  }

  /** Whether a key is brought in by the key before it. */
  #follows(ev) {
    const known = this.#keys.map(({ key }) => hexOf('ed25519', key));
    const { signatures, ...signed } = ev;
    const signers = ev.old === null ? [ev.new] : [ev.old, ev.new];
    const over = Buffer.from(canonical(signed));
    return (
      isName(ev.name) &&
      [null, ev.name].includes(this.origin) &&
      ev.old === (known.at(-1) ?? null) &&
      !known.includes(ev.new) &&
      signers.every((key, at) => verifies(rawOf(key), rawOf(signatures[at]), over))
    );
  }

  /** Whether a checkpoint says what the log is by then, signed with the key in force. */
  #holds(note, prior) {
    const said = parseCheckpoint(note);
    const key = this.#keys.at(-1);
    return (
      key !== undefined &&
      said !== undefined &&
      said.origin === this.origin &&
      said.size === this.#tree.size &&
      said.root.equals(this.#tree.root()) &&
      said.more.length === 1 &&
      said.more[0] === `spine ${prior.seq} ${prior.digest}` &&
      signedBy(note, key)
    );
  }

  /** Compares what was kept outside with what was read. */
  finish(head) {
    const pinned = this.#anchors.key;
    if (pinned && !this.#keys.some((key) => sameKey(key, pinned))) this.#add('log.key_rotation', 'pinned key');
    for (const copy of this.#copies) {
      const { name, note, said } = copy;
      const differs = this.#differs(copy, head.seq);
      // A copy that no pinned key vouches for is believed because it was kept, as a head is.
      if (!this.#isSigned(note, said) && (!differs || pinned)) this.#add('log.checkpoint', `checkpoint ${name}`);
      else if (differs) this.#add('log.equivocation', `checkpoint ${name}`);
      else {
        // A root binds the last session's end, and with it the chain up to there.
        let covers = said.spine ? said.spine.seq : copy.closedAt;
        if (this.#last?.seq === covers + 1 && this.#last.text === note.text) covers += 1; // its own entry
        this.covered = Math.max(this.covered, covers);
      }
    }
  }

  #isSigned(note, said) {
    const { key: pinned, witnesses } = this.#anchors;
    let trusted = said.origin === this.origin ? this.#keys : [];
    if (pinned) {
      const at = this.#keys.findIndex((key) => sameKey(key, pinned));
      trusted = at < 0 ? [pinned] : this.#keys.slice(at);
    }
    const logged = !trusted.length || trusted.some((key) => signedBy(note, key));
    return logged && witnesses.every((key) => key.algorithm === WITNESS_KEY && signedBy(note, key));
  }

  #differs({ said, rootAt, entryAt }, last) {
    return (
      (this.origin !== null && said.origin !== this.origin) ||
      said.size > this.#tree.size ||
      (said.spine !== null && (said.spine.seq > last || entryAt !== said.spine.digest)) ||
      !rootAt?.equals(said.root)
    );
  }
}

// -------------------------------------------------------------- execution

const RAN = ['ok', 'error', 'timeout', 'cancelled'];

/** Which status of a trace agrees with which terminal state; an unknown one agrees with all. */
const AGREES = {
  ok: ['ok'],
  error: ['error', 'cancelled', 'stopped'],
  timeout: ['error', 'cancelled', 'stopped'],
  cancelled: ['error', 'cancelled', 'stopped', 'refused'],
  refused: ['error', 'stopped', 'refused'],
  unresolved: ['ok', 'error', 'cancelled', 'stopped', 'refused'],
};

/** A trace's calls, each taken by at most one decision. */
class Spans {
  #calls;
  #taken = new Set();
  #byCall = new Map();
  #copies = new Map();
  #byContent = new Map();
  #formats = new Map();
  #allFormats;

  constructor(calls) {
    this.#calls = calls;
    this.#allFormats = [...new Set(calls.map(({ format }) => format))];
    calls.forEach(({ call, session, tool, args_digest: args, format }, at) => {
      if (call !== null) addTo(this.#byCall, joined(call, session), at);
      if (call !== null && args !== null) addTo(this.#copies, joined(call, args), at);
      if (args !== null) addTo(this.#byContent, joined(session, tool, args, format), at);
      if (session !== null) heldIn(this.#formats, session, () => new Set()).add(format);
    });
  }

  /** The formats in which the trace names a session. */
  formatsOf(session) {
    return [...(this.#formats.get(session) ?? [])];
  }

  #pop(map, key) {
    const found = map.get(key) ?? [];
    map.delete(key);
    return found;
  }

  /** Takes what shows a decided call, one of each format; null when nothing does. */
  take(session, call, tool, digests) {
    const found = new Map();
    let again = false;
    for (const whose of [session, null]) {
      for (const at of this.#pop(this.#byCall, joined(call, whose))) {
        const span = this.#calls[at];
        this.#taken.add(at);
        again ||= found.has(span.format);
        if (!found.has(span.format)) found.set(span.format, span);
      }
    }
    for (const args of digests) {
      // A resumed session repeats what an earlier one did under its own name.
      for (const at of this.#pop(this.#copies, joined(call, args))) this.#taken.add(at);
    }
    if (found.size) return { spans: [...found.values()], again };
    for (const args of digests) {
      const spans = this.#byArguments(session, tool, args, call.startsWith('made-'));
      if (spans.length) return { spans, again: false };
    }
    return null;
  }

  /**
   * Takes the first of each format with these arguments.
   *
   * What has an id of its own is another call, unless the writer made the decided one's id
   * because the host's hooks know none.
   */
  #byArguments(session, tool, args, made) {
    const found = [];
    for (const format of this.#allFormats) {
      for (const place of [[session, tool], [session, null], [null, tool], [null, null]]) {
        const waiting = this.#byContent.get(joined(...place, args, format)) ?? [];
        while (waiting.length && (this.#taken.has(waiting[0]) || (this.#calls[waiting[0]].call !== null && !made))) waiting.shift();
        if (!waiting.length) continue;
        const at = waiting.shift();
        this.#taken.add(at);
        found.push(this.#calls[at]);
        break;
      }
    }
    return found;
  }

  /** What nobody took, without what no hook is ever asked about. */
  left() {
    return this.#calls.filter(({ hooked }, at) => hooked && !this.#taken.has(at));
  }
}

/** What a trace says was answered when calls asked for permission: the last word on each. */
class Answers {
  #byCall = new Map();

  constructor(answers) {
    for (const answer of answers) {
      const key = joined(answer.session, answer.call);
      const before = this.#byCall.get(key);
      if (!before || (answer.ts ?? 0) >= (before.ts ?? 0)) this.#byCall.set(key, answer);
    }
  }

  on(session, call) {
    return this.#byCall.get(joined(session, call)) ?? this.#byCall.get(joined(null, call));
  }

  /** Whether a person let a call through, and not a rule, a mode or a hook. */
  approved(session, call) {
    const answer = this.on(session, call);
    return Boolean(answer?.accepted) && answer.source.toLowerCase().startsWith('user');
  }
}

/** Layer 3: what ran is what was allowed, and the other way round. */
class Execution extends Layer {
  inferred = 0;
  #trace;
  #losses = new Set(); // format and session where the trace is not whole
  #sessions = new Map();
  #approvals = new Set();
  #stated = new Set(); // calls that the ledger itself says nobody decided
  #refused = new Map(); // by session (or none) and call or arguments: entries that refuse it unread

  /** `trace` is {calls, answers, losses}; null when none was given. */
  constructor(trace) {
    super();
    this.#trace = trace && { spans: new Spans(trace.calls), answers: new Answers(trace.answers), lossy: new Set() };
    for (const { format, session } of trace?.losses ?? []) {
      this.#losses.add(joined(format, session));
      this.#trace.lossy.add(format);
    }
  }

  #session(id) {
    const make = () => ({ executes: true, differ: new Map(), calls: new Map(), entries: new Map(), answered: new Set(), outcomes: [] });
    return heldIn(this.#sessions, id, make);
  }

  take(line, stream) {
    const { entry } = line;
    const { ev } = entry;
    const foreign = stream !== null && stream !== entry.session;
    if (entry.kind === 'decision' && !foreign) this.#decision(line);
    else if (entry.kind === 'outcome' && !foreign) this.#session(entry.session).outcomes.push(ev);
    else if (stream !== null) return; // what belongs on the spine says nothing elsewhere
    else if (entry.kind === 'session_open') this.#session(entry.session).executes = ev.executes;
    else if (entry.kind === 'approval') this.#approvals.add(line.digest);
    else if (entry.kind === 'audit' && ev.action === 'execution.unmatched') {
      this.add('execution.unmatched', line.digest, entry.session);
      const { call, args_digest: args } = ev.details;
      const known = text(call) ? call : args;
      this.#stated.add(joined(entry.session, text(known) ? known : null));
    } else if (entry.kind === 'audit' && ev.action === 'execution.args_differ') {
      this.add('execution.args_differ', line.digest, entry.session);
      addTo(this.#session(entry.session ?? '').differ, ev.details.call, ev.details.args_digest);
    } else if (entry.kind === 'audit' && ev.action === 'input.refused') {
      const { session, call, args_digest: args } = ev.details;
      const whose = text(session) ? [session, null] : [null];
      for (const name of new Set([call, args].filter((one) => text(one) && one))) {
        for (const one of whose) addTo(this.#refused, joined(one, name), line.digest);
      }
    }
  }

  #decision(line) {
    const { entry } = line;
    const held = this.#session(entry.session);
    const call = {
      entry: line.digest, event: line.event, state: entry.ev.decision_state, args: entry.ev.args_digest,
      call: entry.intent.call, tool: entry.intent.action_type, agent: entry.intent.agent_id, turn: entry.turn,
      inferred: false, replaced: false, terminal: '', result: null,
    };
    held.calls.set(line.event, call);
    held.entries.set(line.digest, line.event);
    for (const item of entry.basis) {
      held.answered.add(item);
      if (held.calls.has(item)) call.inferred = !entry.basis.some((one) => this.#approvals.has(one));
    }
    for (const parent of entry.parents) {
      const event = held.entries.get(parent);
      if (event !== undefined && !held.answered.has(event)) held.calls.get(event).replaced = true;
    }
  }

  /** Judges a session, now that all of it was read. */
  endSession(session) {
    const held = this.#sessions.get(session);
    if (!held) return;
    this.#sessions.delete(session);
    for (const { decision_digest, terminal_state, result_digest } of held.outcomes) {
      const call = held.calls.get(decision_digest);
      if (call && (terminal_state !== 'unresolved' || !call.terminal)) {
        call.terminal = terminal_state;
        call.result = result_digest;
      }
    }
    const standing = [...held.calls.values()].filter((call) => !call.replaced && !held.answered.has(call.event));
    for (const call of standing) {
      if (call.inferred && !this.#trace?.answers.approved(session, call.call)) this.inferred += 1;
    }
    const reported = new Set();
    for (const call of held.calls.values()) {
      const code = RAN.includes(call.terminal) ? this.#wrongly(held, call) : undefined;
      if (!code) continue;
      this.#add(code, session, call);
      reported.add(call.event);
    }
    if (this.#trace) this.#against(session, held, standing, reported);
  }

  #add(code, session, { entry, turn }) {
    this.add(code, entry, session, turn);
  }

  /** The code of a call that ran and should not have; undefined if it may. */
  #wrongly(held, call) {
    if (!held.executes) return 'execution.in_run';
    return { denied: 'execution.after_deny', asked: 'execution.ask_unanswered' }[call.state];
  }

  /** Compares a session with the trace. Their clocks are never compared. */
  #against(session, held, standing, reported) {
    const chains = new Map(); // by agent: the calls that ran, in the order they were decided, and whether each is shown
    for (const call of standing) {
      const digests = [call.args, ...(held.differ.get(call.call) ?? [])];
      const match = this.#trace.spans.take(session, call.call, call.tool, digests);
      if (match) this.#compare(session, held, call, match, digests, reported);
      const shownRan = match?.spans.some(({ status }) => ['ok', 'cancelled'].includes(status));
      const rejected = this.#trace.answers.on(session, call.call)?.accepted === false;
      if (rejected && (shownRan || ['ok', 'error', 'timeout'].includes(call.terminal))) this.#add('execution.rejected', session, call);
      const expected = held.executes && call.state === 'allowed' && RAN.includes(call.terminal);
      if (expected || match) addTo(chains, call.agent, { call, shown: Boolean(match) });
    }
    if (standing.length && this.#isLossy(session)) {
      const missing = [...chains.values()].flat().find(({ shown }) => !shown)?.call ?? standing[0];
      this.#add('execution.trace_ends', session, { entry: missing.entry, turn: null });
      return;
    }
    for (const chain of chains.values()) {
      // Before a call that is shown one is missing; behind the last one the trace ends.
      const last = chain.findLastIndex(({ shown }) => shown);
      const missing = chain.slice(0, last + 1).filter(({ shown }) => !shown);
      for (const { call } of missing) this.#add('execution.no_span', session, call);
      const behind = chain[last + 1]?.call;
      if (behind) this.#add(last < 0 ? 'execution.trace_missing' : 'execution.trace_ends', session, { entry: behind.entry, turn: null });
    }
  }

  /** Whether no format may show all of a session. */
  #isLossy(session) {
    const named = this.#trace.spans.formatsOf(session);
    const formats = named.length ? named : [...this.#trace.lossy];
    const isLost = (format) => [null, session].some((whose) => this.#losses.has(joined(format, whose)));
    return formats.length > 0 && formats.every(isLost);
  }

  #compare(session, held, call, { spans, again }, digests, reported) {
    if (again) this.#add('execution.span_reused', session, call);
    if (reported.has(call.event)) return;
    let told = false;
    for (const span of spans) {
      if (span.decision_digest !== null && span.decision_digest !== call.event) {
        this.#add('execution.other_decision', session, call);
        continue;
      }
      const wrong = this.#wrongly(held, call);
      const ran = held.executes ? ['ok', 'cancelled'].includes(span.status) : span.status !== 'refused';
      if (wrong && ran) {
        if (!told) this.#add(wrong, session, call);
        told = true;
        continue;
      }
      if (span.args_digest !== null && !digests.includes(span.args_digest)) this.#add('execution.args_differ', session, call);
      if (call.result && span.result_digest && span.result_digest !== call.result) this.#add('execution.result_differs', session, call);
      if (call.terminal && span.status !== null && !AGREES[call.terminal].includes(span.status)) this.#add('execution.state_differs', session, call);
    }
  }

  #refusals = new Set(); // those taken, by entry and format
  #ran = new Set(); // those whose call ran

  /** Whether a call was refused unread: each refusal is of one call, which a format shows once. */
  #wasRefused({ session, call, args_digest: args, format, status }) {
    const known = this.#refused.get(joined(session, call || args || '')) ?? [];
    const entry = known.find((one) => !this.#refusals.has(joined(one, format)));
    if (entry === undefined) return false;
    this.#refusals.add(joined(entry, format));
    if (['ok', 'cancelled'].includes(status) && !this.#ran.has(entry)) {
      this.#ran.add(entry);
      this.add('execution.after_deny', entry, null);
    }
    return true;
  }

  finish() {
    for (const session of [...this.#sessions.keys()]) this.endSession(session);
    for (const span of this.#trace?.spans.left() ?? []) {
      if (this.#stated.has(joined(span.session, span.call || span.args_digest))) continue;
      if (this.#wasRefused(span)) continue;
      this.add('execution.no_decision', span.where, span.session);
    }
  }
}

// ----------------------------------------------------------------- traces

const MAX_TRACE_LINE = 32 * 1024 * 1024;
const MAX_DOCUMENT = 64 * 1024 * 1024;
const MOST_MARKS = 4 * 1024 * 1024; // braces, brackets and commas: about as many values come of them
const MARKS = new Set(Buffer.from('{[,'));

/** Whether an object may hold more values than memory is to. */
function isCrowded(data) {
  if (data.length <= MOST_MARKS) return false;
  let marks = 0;
  for (const byte of data) if (MARKS.has(byte)) marks += 1;
  return marks > MOST_MARKS;
}

/** A JSON value as other programs write them; undefined where there is none, or one of too many. */
function leniently(data) {
  if (isCrowded(data)) return undefined;
  try {
    return new Reader(data, true).value;
  } catch {
    return undefined;
  }
}

const decodedText = (value) => (text(value) ? leniently(Buffer.from(value)) : undefined);
const textOrNull = (value) => (text(value) && value !== '' ? value : null);

/** A value's digest; null where it has no canonical form. */
function digestOrNull(value) {
  const fits = (one, depth) => {
    if (typeof one === 'bigint' || (typeof one === 'number' && !Number.isFinite(one))) return false;
    if (text(one)) return !/\p{Surrogate}/u.test(one);
    if (one === null || typeof one !== 'object') return true;
    const inner = [...Object.values(one), ...(Array.isArray(one) ? [] : Object.keys(one))];
    return depth < MAX_DEPTH && inner.every((item) => fits(item, depth + 1));
  };
  return value !== undefined && fits(value, 0) ? digestOf(canonical(value)) : null;
}

function splitLines(data) {
  const lines = [];
  for (let at = 0; at <= data.length; ) {
    const feed = data.indexOf(10, at);
    const end = feed < 0 ? data.length : feed;
    lines.push(data.subarray(at, end));
    at = end + 1;
  }
  return lines;
}

/** The objects of a trace file with their lines: {number, value}, value undefined where there is none. */
function objectsOf(data) {
  const isBlank = (line) => line.every((byte) => byte === 32 || (byte >= 9 && byte <= 13));
  const valueOf = (line) => {
    const value = line.length <= MAX_TRACE_LINE ? leniently(line) : undefined;
    return isObject(value) ? value : undefined;
  };
  const items = [];
  let lines = splitLines(data);
  const begin = lines.findIndex((line) => !isBlank(line));
  if (begin < 0) return [];
  // A file that is one object over several lines.
  if (leniently(lines[begin]) === undefined && lines[begin].toString('latin1').trimStart().startsWith('{')) {
    const cut = data.length > MAX_DOCUMENT;
    const value = cut ? undefined : leniently(data);
    if (isObject(value)) return [{ number: 1, value }];
    if (cut) items.push({ number: 0, value: undefined });
    lines = splitLines(data.subarray(0, MAX_DOCUMENT));
  }
  lines.forEach((line, at) => {
    if (!isBlank(line)) items.push({ number: at + 1, value: valueOf(line) });
  });
  return items;
}

/** Reads trace files as one trace: {calls, answers, losses}. `files` are pairs of name and bytes. */
function readTraces(files) {
  const trace = { calls: [], answers: [], losses: [] };
  const known = new Map(); // format and id -> where its call stands
  const isSame = (one, other) => JSON.stringify({ ...one, where: '' }) === JSON.stringify({ ...other, where: '' });
  const add = (span) => {
    const key = joined(span.format, span.id);
    const at = span.id === null ? undefined : known.get(key);
    if (at === undefined) {
      if (span.id !== null) known.set(key, trace.calls.length);
      trace.calls.push(span);
    } else if (trace.calls[at].status === null) trace.calls[at] = span; // it only lacked the end of the call
    else if (span.status !== null && !isSame(trace.calls[at], span)) trace.calls.push(span);
  };
  for (const [name, data] of files) {
    const readers = new Map();
    let broken = false;
    for (const { number, value } of objectsOf(data)) {
      broken ||= value === undefined;
      const kind = value && FORMATS.find((one) => one.claims(value));
      if (!kind) continue;
      heldIn(readers, kind, () => new kind(name)).take(number, value);
    }
    if (!readers.size) {
      throw new CheckError(`cannot read the trace ${name}: expected OTLP/JSON, a Claude Code transcript or a Codex rollout`);
    }
    for (const [at, reader] of [...readers.values()].entries()) {
      const calls = reader.calls();
      const sessions = new Set(calls.map(({ session }) => session));
      // A line that is no object is lost to the sessions the file shows.
      if (broken && at === 0) for (const session of sessions.size ? sessions : [null]) reader.lose(session);
      calls.forEach(add);
      trace.answers.push(...reader.answers);
      trace.losses.push(...reader.losses);
    }
  }
  return trace;
}

/** What the readers of the formats share. */
class TraceReader {
  answers = [];
  losses = [];

  constructor(name) {
    this.name = name;
  }

  /** Notes that the trace is not the whole: of a session, or (null) of any. */
  lose(session) {
    this.losses.push({ format: this.constructor.format, session });
  }

  span(values) {
    return { ...UNSAID, format: this.constructor.format, ...values };
  }

  /** A call with what is known of its end, if anything is. */
  ended(span, ending) {
    return ending ? { ...span, status: ending.status, end: ending.end, hooked: span.hooked && ending.reached } : span;
  }
}

/** What a call of a trace says where nothing is said. */
const UNSAID = {
  where: '', session: null, call: null, tool: null, status: null, args_digest: null, result_digest: null,
  decision_digest: null, format: '', id: null, end: null, hooked: true,
};

const CALL_IDS = ['tool_use_id', 'gen_ai.tool.call.id', 'gen_ai.tool.call_id', 'call_id'];
const SESSION_IDS = ['session.id', 'gen_ai.conversation.id', 'conversation.id'];
const objectsIn = (value) => (Array.isArray(value) ? value.filter(isObject) : []);

/** The attributes of a span or record by name. */
function attributesOf(holder) {
  const found = new Map();
  for (const { key, value } of objectsIn(holder.attributes)) {
    const values = isObject(value) ? Object.values(value) : [];
    if (text(key) && values.length === 1) found.set(key, values[0]);
  }
  return found;
}

const saidBy = (held, ...names) => names.map((name) => held.get(name)).find((one) => textOrNull(one) !== null) ?? null;

function isDropped([key, value]) {
  if (!/^dropped[A-Z][A-Za-z]{0,40}Count$/.test(key)) return false;
  return text(value) ? /^[0-9]{1,19}$/.test(value) && /[1-9]/.test(value) : typeof value === 'bigint' || (integer(value) && value > 0);
}

function nanoseconds(value) {
  const decimal = text(value) && /^[0-9]{1,19}$/.test(value);
  const fits = decimal || (typeof value === 'bigint' ? value >= 0n && value < 10n ** 19n : natural(value));
  return fits ? Number(BigInt(value) / 1000n) : null;
}

/** Microseconds since the epoch of a time with a zone (ISO 8601); null where it is none. */
function timeOf(value) {
  const parts = text(value) && /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:[.,](\d+))?([Zz]|[+-]\d\d:\d\d)$/.exec(value);
  if (!parts) return null;
  const seconds = Date.parse(`${parts[1]}T${parts[2]}${parts[4].toUpperCase()}`);
  return Number.isNaN(seconds) ? null : seconds * 1000 + Number((parts[3] ?? '').slice(0, 6).padEnd(6, '0'));
}

/** The records of an OTLP document; notes what was dropped around them. */
function* recordsOf(reader, resources, scopes, items) {
  for (const resource of objectsIn(resources)) {
    for (const scopeHolder of objectsIn(resource[scopes])) {
      for (const holder of [resource, scopeHolder]) if (Object.entries(holder).some(isDropped)) reader.lose(null);
      yield* objectsIn(scopeHolder[items]);
    }
  }
}

/** OTLP/JSON traces: the spans of tool executions. */
class OtlpTraces extends TraceReader {
  static format = 'otlp-traces';
  #tools = new Map();
  #owners = new Map();
  #prompts = [];
  #found = [];

  static claims(row) {
    return 'resourceSpans' in row;
  }

  take(number, row) {
    for (const span of recordsOf(this, row.resourceSpans, 'scopeSpans', 'spans')) {
      const held = attributesOf(span);
      const { name } = span;
      const call = saidBy(held, ...CALL_IDS);
      if (name === 'claude_code.tool' && call !== null) {
        const tool = saidBy(held, 'tool_name', 'gen_ai.tool.name');
        if (tool !== null) this.#tools.set(call, tool);
        this.#owners.set(textOrNull(span.spanId) ?? '', { session: saidBy(held, ...SESSION_IDS), call });
      } else if (name === 'claude_code.tool.blocked_on_user') this.#prompts.push({ span, held });
      const ours = ['claude_code.tool', 'claude_code.tool.blocked_on_user'].includes(name);
      const genAi = held.get('gen_ai.operation.name') === 'execute_tool' && !ours;
      if (name === 'claude_code.tool.execution' || genAi) this.#execution(span, held, call);
    }
  }

  #execution(span, held, call) {
    const session = saidBy(held, ...SESSION_IDS);
    const sampled = /[;=](?:th:(?!0{1,14}(?:[;,]|$))[0-9a-f]{1,14}|p:[1-9][0-9]?)(?:[;,]|$)/;
    if (text(span.traceState) && sampled.test(span.traceState.slice(0, 512))) this.lose(session);
    if (Object.entries(span).some(isDropped)) this.lose(session);
    const [traceId, spanId] = [textOrNull(span.traceId), textOrNull(span.spanId)];
    const given = decodedText(held.get('gen_ai.tool.call.arguments'));
    const success = held.get('success');
    const failed = ['false', false].includes(success) || [2, 'STATUS_CODE_ERROR'].includes(span.status?.code) || held.has('error.type');
    this.#found.push(
      this.span({
        where: `${this.name} span ${spanId ?? 'None'}`,
        session,
        call,
        tool: saidBy(held, 'gen_ai.tool.name', 'tool_name'),
        status: !['true', true].includes(success) && failed ? 'error' : 'ok',
        args_digest: saidBy(held, 'toolgate.args_digest') ?? (isObject(given) ? digestOrNull(given) : null),
        result_digest: saidBy(held, 'toolgate.result_digest'),
        decision_digest: saidBy(held, 'toolgate.decision_digest'),
        id: traceId === null || spanId === null ? null : joined(traceId.toLowerCase(), spanId.toLowerCase()),
        end: digestOrNull(span),
      }),
    );
  }

  calls() {
    for (const { span, held } of this.#prompts) {
      const owner = this.#owners.get(textOrNull(span.parentSpanId) ?? '');
      const said = held.get('decision');
      if (!owner || !['accept', 'reject'].includes(said)) continue;
      this.answers.push({ ...owner, accepted: said === 'accept', source: saidBy(held, 'source') ?? '', ts: nanoseconds(span.endTimeUnixNano) });
    }
    return this.#found.map((span) => ({ ...span, tool: span.tool ?? this.#tools.get(span.call) ?? null }));
  }
}

/** OTLP/JSON logs: the events of Claude Code and Codex about tool calls. */
class OtlpLogs extends TraceReader {
  static format = 'otlp-logs';
  #found = [];
  #sequences = new Map();

  static claims(row) {
    return 'resourceLogs' in row;
  }

  take(number, row) {
    for (const record of recordsOf(this, row.resourceLogs, 'scopeLogs', 'logRecords')) {
      const held = attributesOf(record);
      const said = saidBy(held, 'event.name') ?? textOrNull(record.eventName) ?? '';
      const [, vendor, name] = /^(?:(codex|claude_code)\.)?(.*)$/s.exec(said);
      const session = saidBy(held, ...SESSION_IDS);
      const call = saidBy(held, ...CALL_IDS);
      const number = held.get('event.sequence');
      const sequence = text(number) && /^[0-9]{1,16}$/.test(number) ? Number(number) : number;
      if (session !== null && natural(sequence)) heldIn(this.#sequences, session, () => new Set()).add(sequence);
      const ts = timeOf(held.get('event.timestamp')) ?? nanoseconds(record.timeUnixNano);
      if (name === 'tool_result') this.#call(record, held, vendor, session, call);
      else if (name === 'tool_decision' && call !== null) {
        const decision = (saidBy(held, 'decision') ?? '').toLowerCase();
        const accepted = decision.startsWith('accept') || decision.startsWith('approved');
        if (!accepted && !['reject', 'denied', 'abort', 'timed_out'].includes(decision)) continue;
        this.answers.push({ session, call, accepted, source: saidBy(held, 'source') ?? '', ts });
      }
    }
  }

  #call(record, held, vendor, session, call) {
    const tool = saidBy(held, 'tool_name');
    const form = vendor === 'codex' ? hookForm(tool, held.get('arguments')) : { tool };
    this.#found.push(
      this.span({
        ...form,
        where: `${this.name} tool_result ${call ?? 'None'}`,
        session,
        call,
        status: ['false', false].includes(held.get('success')) ? 'error' : 'ok',
        id: call === null ? null : joined(session, call, saidBy(held, 'event.sequence')),
        end: digestOrNull(record),
      }),
    );
  }

  calls() {
    // A session counts its events, so that gaps show.
    for (const [session, numbers] of this.#sequences) {
      let [least, most] = [Infinity, -Infinity];
      for (const one of numbers) [least, most] = [Math.min(least, one), Math.max(most, one)];
      if (most - least + 1 !== numbers.size) this.lose(session);
    }
    return this.#found;
  }
}

/** Tool and arguments of a Codex call as its hooks see them. */
function hookForm(tool, given) {
  const held = decodedText(given);
  const command = (value) => (text(value) ? digestOrNull({ command: value }) : null);
  if (['shell', 'shell_command', 'exec_command', 'local_shell'].includes(tool)) {
    const said = isObject(held) ? ('cmd' in held ? held.cmd : held.command) : null;
    return { tool: 'Bash', args_digest: command(said) };
  }
  if (tool === 'apply_patch') return { tool, args_digest: command(isObject(held) ? held.input : null) };
  return { tool, args_digest: isObject(held) ? digestOrNull(held) : null, hooked: !['write_stdin', 'wait'].includes(tool) };
}

/** Codex rollouts. The first session_meta names the session; later ones are copies. */
class Rollout extends TraceReader {
  static format = 'codex-rollout';
  #session = null;
  #calls = new Map();
  #ends = new Map();

  static claims(row) {
    const kinds = ['session_meta', 'turn_context', 'response_item', 'event_msg', 'compacted'];
    return kinds.includes(row.type) && isObject(row.payload);
  }

  take(number, { type, payload }) {
    if (type === 'session_meta') this.#session ??= textOrNull(payload.id);
    if (type !== 'response_item') return;
    const call = textOrNull(payload.call_id);
    if (['function_call', 'custom_tool_call', 'local_shell_call'].includes(payload.type)) {
      const form = this.#form(payload);
      const where = `${this.name}:${number}`;
      const id = call === null ? null : joined(this.#session, call, form.args_digest ?? null);
      const key = joined(call, call === null ? where : form.args_digest ?? null);
      if (!this.#calls.has(key)) this.#calls.set(key, this.span({ ...form, where, session: this.#session, call, id }));
    } else if (['function_call_output', 'custom_tool_call_output'].includes(payload.type) && call !== null) {
      this.#ends.set(call, { ...this.#ending(payload.output), end: digestOrNull(payload.output ?? null) });
    }
  }

  #form(payload) {
    const tool = textOrNull(payload.name);
    if (payload.type === 'local_shell_call') return { tool: 'Bash' };
    if (payload.type !== 'custom_tool_call') return hookForm(tool, payload.arguments);
    const patch = tool === 'apply_patch' && text(payload.input);
    return { tool, args_digest: patch ? digestOrNull({ command: payload.input }) : null, hooked: tool === 'apply_patch' };
  }

  #ending(output) {
    const success = isObject(output) ? output.success : null;
    let said = isObject(output) ? output.content : output;
    if (Array.isArray(said)) said = isObject(said[0]) ? said[0].text : null;
    said = text(said) ? said : '';
    const blocked = ['Command blocked by PreToolUse hook', 'Tool call blocked by PreToolUse hook'];
    const rejected = ['exec command rejected by user', 'patch rejected by user'].includes(said);
    if (rejected || blocked.some((one) => said.startsWith(one))) return { status: 'refused', reached: true };
    if (said.startsWith('unsupported call: ')) return { status: 'refused', reached: false };
    const look = said.slice(0, 600);
    if (/^(?:Wall time: [0-9.]{1,20} seconds\n)?aborted by user/.test(look)) return { status: 'stopped', reached: true };
    let code = null;
    if (said.startsWith('{')) {
      const held = decodedText(said)?.metadata?.exit_code;
      code = integer(held) ? held : null;
    } else {
      const found = /^(?:Exit code: |(?:[^\n]{0,80}\n){0,4}Process exited with code )(-?[0-9]{1,9})/.exec(look);
      code = found && Number(found[1]);
    }
    const failed = code === null ? success === false : code !== 0;
    return { status: failed ? 'error' : 'ok', reached: true };
  }

  calls() {
    return [...this.#calls.values()].map((span) => this.ended(span, this.#ends.get(span.call)));
  }
}

/** Lines of a transcript that hold no call and no result. */
const SILENT_LINES = [
  'agent-name', 'ai-title', 'attachment', 'bridge-session', 'custom-title', 'file-history-snapshot', 'last-prompt',
  'permission-mode', 'pr-link', 'progress', 'queue-operation', 'summary', 'system',
];

/** Claude Code transcripts: tool calls and their results, refused ones included. */
class Transcript extends TraceReader {
  static format = 'claude-transcript';
  #calls = new Map();
  #results = new Map();
  #latest = new Map();

  static claims(row) {
    return text(row.type) && (['assistant', 'user', ...SILENT_LINES].includes(row.type) || 'sessionId' in row);
  }

  take(number, row) {
    if (!['assistant', 'user'].includes(row.type)) return;
    const blocks = objectsIn(isObject(row.message) ? row.message.content : null);
    const alone = blocks.filter(({ type }) => type === 'tool_result').length === 1;
    const session = textOrNull(row.sessionId);
    for (const block of blocks) {
      if (block.type === 'tool_use') this.#call(session, row, block, `${this.name}:${number}`);
      else if (block.type === 'tool_result') this.#result(session, alone ? row : {}, block);
    }
  }

  #call(session, row, block, where) {
    const [call, tool] = [textOrNull(block.id), textOrNull(block.name)];
    if (call === null) {
      this.lose(null);
      return;
    }
    const args = 'input' in block ? digestOrNull(block.input) : null;
    const id = joined(session, call, args);
    if (this.#calls.has(id)) return;
    const ts = timeOf(row.timestamp);
    this.#calls.set(id, this.span({ where, session, call, tool, args_digest: args, id, ts, hooked: tool !== 'EndConversation' }));
  }

  #result(session, row, block) {
    const call = textOrNull(block.tool_use_id);
    const key = joined(session, call);
    // What comes after a launch is the result of work that outlived its call.
    if (call === null || this.#results.get(key)?.launched) return;
    const result = this.#ending(row.toolUseResult ?? null, row.toolDenialKind, block);
    this.#results.set(key, result);
    this.#latest.set(call, result);
  }

  #ending(said, denial, block) {
    const failed = block.is_error === true;
    const launched =
      isObject(said) && (text(said.backgroundTaskId) || said.isAsync === true || ['async_launched', 'remote_launched'].includes(said.status));
    // The host's own field, not the text of the result, which a tool may have written.
    const notACall = ['InputValidationError: ', 'Error: No such tool available'];
    const reached = !(failed && text(said) && notACall.some((one) => said.startsWith(one)));
    const content = Array.isArray(block.content) ? (isObject(block.content[0]) ? block.content[0].text : null) : block.content;
    const shown = text(content) ? content : '';
    const stopped = failed && ["The user doesn't want to ", '[Request interrupted by user'].some((one) => shown.startsWith(one));
    let status = failed ? 'error' : 'ok';
    if (isObject(said) && said.interrupted === true) status = 'cancelled';
    else if (text(denial)) status = ['interrupted', 'cancelled'].includes(denial) ? 'stopped' : 'refused';
    else if (said === 'User rejected tool use' || stopped) status = 'stopped';
    return { status: reached ? status : 'refused', launched, reached, end: digestOrNull(said ?? block.content ?? null) };
  }

  calls() {
    return [...this.#calls.values()].map((span) => {
      // A session that was resumed may have the result of a call the one before it made.
      const ended = this.#results.get(joined(span.session, span.call)) ?? this.#latest.get(span.call);
      return this.ended(span, ended);
    });
  }
}

const FORMATS = [OtlpTraces, OtlpLogs, Rollout, Transcript];

// --------------------------------------------------------------- findings

/** Why a line is no entry. */
const UNUSABLE = ['entries.parse', 'entries.profile', 'entries.noncanonical', 'entries.version', 'entries.schema'];

/** Every finding, the likelier cause first, and the verdict that it makes. */
const FAULTS = new Map([
  ...[
    'log.segment', ...UNUSABLE,
    'entries.action_ref', 'entries.decision_id', 'entries.scope', 'entries.policy_altered',
    'entries.policy_unknown', 'entries.class', 'entries.action_ref_reused', 'entries.intent_differs',
    'entries.basis_other_action', 'entries.swapped_outcome', 'entries.approval_signature',
    'entries.approval_key', 'entries.approval_other', 'entries.approval_refused', 'entries.approval_expired',
    'entries.approval_reused', 'entries.approval_lift', 'entries.approver_twice', 'entries.approval_order',
    'entries.ask_twice', 'entries.composition_denied', 'entries.authority_edge', 'entries.authority_loop',
    'entries.authority_self', 'entries.authority_unrooted',
    'log.head', 'log.equivocation', 'log.spine_broken', 'log.fork', 'log.key_rotation', 'log.checkpoint',
    'log.head_digest', 'log.session_unknown',
    'log.session_mismatch', 'log.session_link', 'log.shape', 'log.turn_gap', 'log.not_open',
    'log.turn_not_closed', 'log.file_missing',
    'log.duplicate_entry', 'log.turn_order', 'log.parent_unknown', 'log.parent_foreign',
    'log.outcome_parent', 'log.fact_unknown', 'log.clock_backwards', 'log.false_recovery', 'log.turn_limit',
    'entries.basis_unknown', 'entries.approval_unbound', 'entries.composition_unmet',
    'entries.outcome_unbound', 'log.two_outcomes', 'log.count', 'log.root',
    'log.orphan_allow',
    'execution.unmatched', 'execution.after_deny', 'execution.rejected', 'execution.ask_unanswered', 'execution.in_run',
    'execution.no_decision', 'execution.span_reused', 'execution.other_decision', 'execution.args_differ',
    'execution.result_differs', 'execution.state_differs', 'execution.no_span', 'log.spawn_denied',
  ].map((code) => [code, 'FAIL']),
  ...[
    'log.ledger_missing', 'log.spawn_unknown', 'log.fragment', 'log.turn_open', 'log.session_open',
    'execution.trace_missing', 'execution.trace_ends',
  ].map((code) => [code, 'INCOMPLETE']),
]);

/** What a missing or unreadable entry brings with it in its neighbourhood. */
const GAPS = [
  'entries.action_ref_reused', 'entries.approval_key', 'entries.approval_order', 'entries.approval_unbound',
  'entries.composition_unmet', 'entries.basis_unknown', 'entries.outcome_unbound', 'entries.policy_unknown',
  'log.spine_broken', 'log.session_unknown', 'log.session_link', 'log.not_open', 'log.turn_gap',
  'log.turn_not_closed', 'log.parent_unknown', 'log.parent_foreign', 'log.outcome_parent', 'log.fact_unknown',
  'log.false_recovery', 'log.count', 'log.root', 'log.orphan_allow', 'log.turn_open', 'log.session_open',
  'log.fragment', 'log.key_rotation', 'log.checkpoint', 'execution.ask_unanswered', 'execution.no_decision', 'execution.no_span',
  'execution.other_decision', 'execution.trace_missing',
];

/** Which findings a finding explains when both lie in one neighbourhood: causes, and what each of them does. */
const EXPLAINS = new Map(
  [
    [['log.segment'], [...GAPS, ...UNUSABLE, 'log.file_missing']],
    [
      [
        ...UNUSABLE, 'entries.outcome_unbound', 'log.fork', 'log.session_unknown', 'log.session_mismatch', 'log.session_link',
        'log.not_open', 'log.turn_gap', 'log.turn_not_closed', 'log.file_missing', 'log.turn_order', 'log.parent_unknown', 'log.fragment',
      ],
      GAPS,
    ],
    [['log.spine_broken'], [...GAPS, 'log.head_digest']],
    [['log.shape'], [...GAPS, 'log.file_missing']],
    [['entries.action_ref'], ['entries.intent_differs', 'entries.swapped_outcome']],
    [['entries.policy_unknown'], ['entries.class']],
    [['entries.policy_altered'], ['entries.class', 'entries.policy_unknown']],
    [['entries.swapped_outcome'], ['log.outcome_parent', 'log.parent_foreign', 'log.two_outcomes']],
    [
      [
        'entries.approval_signature', 'entries.approval_key', 'entries.approval_other', 'entries.approval_refused',
        'entries.approval_expired', 'entries.approval_reused', 'entries.approver_twice', 'entries.approval_order',
        'entries.basis_unknown',
      ],
      ['entries.composition_unmet'],
    ],
    [['entries.authority_edge', 'entries.authority_loop'], ['entries.authority_unrooted']],
    [['log.equivocation'], ['log.key_rotation', 'log.checkpoint']],
    [['log.key_rotation'], ['log.checkpoint']],
    [['log.duplicate_entry'], ['log.count', 'log.root', 'entries.action_ref_reused', 'log.two_outcomes']],
    [['log.parent_foreign'], ['log.count', 'log.root']],
    [['log.outcome_parent'], ['log.parent_unknown', 'log.parent_foreign', 'log.root']],
    [['log.count'], ['log.root', 'log.orphan_allow']],
    [['log.root'], ['log.count', 'log.orphan_allow']],
    [['log.orphan_allow', 'execution.other_decision', 'execution.no_decision'], ['execution.no_span']],
    [['log.turn_open'], ['log.session_open']],
  ].flatMap(([causes, explained]) => causes.map((code) => [code, explained])),
);

/**
 * Puts findings in order and names the cause of those that follow from another.
 *
 * A cause comes earlier in the order, and lies in the same turn, or in the same session
 * where one of the two belongs to no turn, or, with no turn, on the spine.
 */
function attribute(seen) {
  const rank = new Map([...FAULTS.keys()].map((code, at) => [code, at]));
  const ordered = [...seen].sort((a, b) => rank.get(a.code) - rank.get(b.code)); // stable
  const causes = new Map();
  const primary = [];
  const follows = new Map();
  for (const { code, entry, session, turn } of ordered) {
    const places = [joined(code, session, turn)];
    if (turn !== null) places.push(joined(code, session, 'whole'));
    if (session !== null) places.push(joined(code, null, 'whole'));
    const cause = causes.get(places.find((one) => causes.has(one))) ?? null;
    const finding = { code, entry, cause };
    if (cause !== null) {
      addTo(follows, cause, finding);
      continue;
    }
    primary.push(finding);
    for (const explained of EXPLAINS.get(code) ?? []) {
      for (const where of [turn, null, ...(turn === null ? ['whole'] : [])]) {
        const key = joined(explained, session, where);
        heldIn(causes, key, () => `${code} ${entry}`);
      }
    }
  }
  const result = [];
  for (const finding of primary) {
    const name = `${finding.code} ${finding.entry}`;
    result.push(finding, ...(follows.get(name) ?? []));
    follows.delete(name);
  }
  return result;
}

// ----------------------------------------------------------------- verify

/** Refuses what is no ledger: nothing was looked at then, and nothing is said of it. */
function checkThere(source) {
  if (!source.spine.length) throw new CheckError('no ledger here (no spine file)');
  if (source.spine.length === 1 && !source.spineSize && ![...source.sessions.values()].some(Boolean)) {
    throw new CheckError('nothing to verify: the ledger has no entry');
  }
}

const verdictOf = (findings, conditions) => {
  const verdicts = findings.map(({ code }) => FAULTS.get(code));
  return ['FAIL', 'INCOMPLETE'].find((one) => verdicts.includes(one)) ?? (conditions.length ? 'CONDITIONAL' : 'PASS');
};

/**
 * Verifies a ledger: everything is read once, line by line, by the three layers.
 *
 * @param source a Directory or Held
 * @param trace {calls, answers, losses}; null when none was given
 * @param pin {seq, digest} of a spine entry that was kept outside; null when none was
 * @param anchors checkpoints and keys that were kept outside
 * @param roots policy digests and keys that are trusted to say who writes policies
 * @param watch called with every entry
 */
async function verify(source, { trace = null, pin = null, anchors = NOTHING_KEPT, roots = [], most = MOST_OF_A_CODE, watch = () => {} } = {}) {
  checkThere(source);
  const log = new Log(pin, anchors);
  const entries = new Entries(source, roots);
  const execution = new Execution(trace);
  const layers = [entries, log, execution];
  for (const layer of layers) layer.most = most;
  const take = (item, stream) => {
    if (item.bad) for (const layer of [entries, log]) layer.bad(item.bad, stream);
    else for (const layer of layers) layer.take(item, stream);
    if (item.entry) watch(item);
  };

  const names = new Map(); // file name -> session
  const lastClosed = new Map();
  const closes = new Map(); // entry digest -> session
  for (const file of source.spine) {
    for await (const item of readLines(source.chunks(file), file)) {
      if (item.bad && file !== source.spine.at(-1)) item.bad.torn = false; // nobody will seal it
      else if (item.bad?.torn && item.offset >= source.spineSize) continue; // a writer is at it
      if (item.entry?.kind === 'session_open') {
        heldIn(names, sessionName(item.entry.session), () => item.entry.session);
      } else if (item.entry?.kind === 'turn_close') lastClosed.set(item.entry.session, item.entry.turn);
      else if (item.entry?.kind === 'session_close') closes.set(item.digest, item.entry.session);
      take(item, null);
    }
  }

  for (const name of [...new Set([...names.keys(), ...source.sessions.keys()])].sort(byBytes)) {
    const known = names.has(name);
    const session = names.get(name) ?? name;
    // What was added since the reading began counts only if the spine, as read, closed its turn.
    const settled = ({ bad, entry }) => (bad ? bad.covered : (entry.turn ?? 0) <= (lastClosed.get(session) ?? -1));
    let begun = false;
    for await (const item of source.session(name)) {
      if (item.offset >= (source.sessions.get(name) ?? 0) && !settled(item)) continue;
      if (!begun) log.beginSession(session, name, known);
      begun = true;
      take(item, session);
    }
    if (!begun && known) log.beginSession(session, null, true);
    for (const layer of layers) layer.endSession(session);
  }
  for await (const damage of source.segments.damage(closes)) log.segment(damage);
  for (const layer of layers) layer.finish();

  const findings = attribute(layers.flatMap((layer) => layer.seen));
  const conditions = [];
  // A checkpoint over no session that names no entry binds nothing.
  if (!pin && !anchors.checkpoints.some(({ said }) => said.size > 0 || said.spine)) {
    conditions.push('whether the whole ledger was rewritten or cut: no pin was given');
  } else if (log.covered > 0 && log.covered < log.head.seq) {
    conditions.push(`whether what follows entry ${log.covered} was rewritten or cut: no pin covers it`);
  }
  if (execution.inferred) conditions.push(`who approved ${execution.inferred} ask(s) known by their execution only`);
  const twins = source.segments.unreadTwins;
  const unchecked = [
    ...(trace ? [] : ['execution against a trace: none was given']),
    ...conditions,
    ...(twins ? [`what ${twins} Parquet twin(s) of segments say: only their digests were compared`] : []),
  ];
  const more = Object.fromEntries(layers.flatMap((layer) => [...layer.more]).sort(([a], [b]) => byBytes(a, b)));
  return { verdict: verdictOf(findings, conditions), findings, more, head: log.head, conditions, unchecked };
}

/** Reads SEQ:DIGEST; the digest may come without its prefix. */
function readPin(value) {
  const parts = /^([1-9][0-9]{0,15}):(?:sha256:)?([0-9a-f]{64})$/.exec(value ?? '');
  return parts && { seq: Number(parts[1]), digest: `sha256:${parts[2]}` };
}

// ----------------------------------------------------------------- system

/** What a ledger's spine names: its log, its sessions, and what started them. */
async function outline(source) {
  checkThere(source);
  const found = { start: '', origins: new Set(), opened: new Map(), children: [] };
  for (const file of source.spine) {
    for await (const { entry, digest: entryDigest } of readLines(source.chunks(file), file)) {
      if (!entry) continue;
      if (!found.start) found.origins.add(`toolgate.invalid/${entryDigest.slice(7, 23)}`);
      found.start ||= entryDigest;
      if (entry.kind === 'key_rotate' && entry.ev.role === 'checkpoint') found.origins.add(entry.ev.name);
      if (entry.kind !== 'session_open') continue;
      heldIn(found.opened, entry.session, () => entryDigest);
      if (entry.ev.spawned_by !== null) {
        found.children.push({ entry: entryDigest, session: entry.session, decision: entry.ev.spawned_by });
      }
    }
  }
  return found;
}

/**
 * Verifies several ledgers as one. The order of the ledgers means nothing.
 *
 * @param ledgers by name, each a function that returns its source or throws a CheckError
 */
async function verifySystem(ledgers, anchors = NOTHING_KEPT) {
  const members = {};
  const outlines = new Map();
  const sources = new Map();
  const findings = new Map();
  const add = (code, entry) => findings.set(joined(code, entry), { code, entry, cause: null });
  const attempt = async (name, act) => {
    try {
      await act();
    } catch (error) {
      if (!(error instanceof CheckError)) throw error;
      members[name] = null;
      outlines.delete(name);
      add('log.ledger_missing', name);
    }
  };
  for (const [name, open] of ledgers) {
    await attempt(name, async () => {
      sources.set(name, open());
      outlines.set(name, await outline(sources.get(name)));
    });
  }

  const children = [...outlines].flatMap(([name, one]) => one.children.map((child) => ({ ...child, name })));
  const wanted = new Set(children.map(({ decision }) => decision));
  const made = new Map(); // decision_digest -> {state, openings: the first session_open of each session that holds it}
  const lasts = new Set();
  for (const [name, { origins, opened }] of [...outlines]) {
    const heads = new Map();
    const watch = ({ entry, event, digest: entryDigest }) => {
      if (entry.kind === 'session_close') heads.set(entry.session, entryDigest);
      if (!wanted.has(event)) return;
      const by = heldIn(made, event, () => ({ state: entry.ev.decision_state, openings: new Set() }));
      by.openings.add(opened.get(entry.session));
    };
    const mine = {
      checkpoints: anchors.checkpoints.filter(({ said }) => origins.has(said.origin)),
      key: origins.has(anchors.key?.name) ? anchors.key : null,
      witnesses: anchors.witnesses,
    };
    await attempt(name, async () => {
      members[name] = await verify(sources.get(name), { anchors: mine, watch });
      for (const head of heads.values()) lasts.add(head);
    });
  }

  const origins = new Set([...outlines.values()].flatMap((one) => [...one.origins]));
  for (const { name, said } of anchors.checkpoints) if (!origins.has(said.origin)) add('log.ledger_missing', `checkpoint ${name}`);
  if (anchors.key && !origins.has(anchors.key.name)) add('log.ledger_missing', 'pinned key');

  const begun = new Map(); // first entry -> the ledgers that begin with it
  for (const [name, { start }] of outlines) heldIn(begun, start, () => []).push(sources.get(name));
  for (const copies of begun.values()) {
    if (copies.length > 1) for (const entry of await partings(copies)) add('log.equivocation', entry);
  }

  const openingOf = ({ name, session }) => outlines.get(name)?.opened.get(session);
  const edges = children.flatMap((child) =>
    [...(made.get(child.decision)?.openings ?? [])].map((opening) => [openingOf(child), opening]),
  );
  const loops = onLoops(edges.filter(([below, above]) => below && above));
  for (const child of children) {
    const by = made.get(child.decision);
    if (!by) add('log.spawn_unknown', child.entry);
    else if (by.state !== 'allowed' || loops.has(openingOf(child))) add('log.spawn_denied', child.entry);
  }

  const reports = Object.values(members).filter(Boolean);
  const every = [...findings.values(), ...reports.flatMap((one) => one.findings)];
  return {
    verdict: verdictOf(every, reports.flatMap((one) => one.conditions)),
    findings: [...findings.values()].sort((a, b) => byBytes(a.code, b.code) || byBytes(a.entry, b.entry)),
    root: hexOf('sha256', rootOver([...lasts].sort())),
    members,
  };
}

/** The entries of a spine, one after the other. */
async function* entriesOf(source) {
  for (const file of source.spine) {
    for await (const line of readLines(source.chunks(file), file)) if (line.entry) yield line;
  }
}

/** The entries at which ledgers part that begin with the same one; of those that follow one, all but the least. */
async function partings(sources) {
  const found = [];
  const waiting = [{ copies: sources.map(entriesOf), before: undefined }];
  while (waiting.length) {
    const { copies, before } = waiting.pop();
    const following = new Map(); // digest -> {link, copies}
    for (const copy of copies) {
      const { value } = await copy.next();
      if (value) heldIn(following, value.digest, () => ({ link: value.entry.prev_digest, copies: [] })).copies.push(copy);
    }
    found.push(...[...following.keys()].filter((one) => following.get(one).link === before).sort().slice(1));
    for (const [one, same] of following) if (same.copies.length > 1) waiting.push({ copies: same.copies, before: one });
  }
  return found;
}

/** What lies on a loop of edges, or between two: what is left when ends are taken away again and again. */
function onLoops(edges) {
  const below = new Set(edges.map(([one]) => one));
  const above = new Set(edges.map(([, one]) => one));
  const left = edges.filter(([one, other]) => above.has(one) && below.has(other));
  return left.length < edges.length ? onLoops(left) : below;
}

// ---------------------------------------------------------------- vectors

/** The bytes of a file from a case's items; `base` are the lines of the file it refers to. */
function dataOf(items, base) {
  const feed = Buffer.from('\n');
  const said = (item, name) => {
    if ('hex' in item) return Buffer.from(item.hex, 'hex');
    const parts = text(item[name]) ? [[item[name], 1]] : item[name];
    return Buffer.from(parts.map(([part, times]) => part.repeat(times)).join(''));
  };
  const lineOf = (item) => {
    if (!('like' in item)) return said(item, 'text');
    const line = base[item.like - 1];
    if ('cut' in item) {
      const [at, length] = item.cut;
      return Buffer.concat([line.subarray(0, at), said(item, 'put'), line.subarray(at + length)]);
    }
    const body = JSON.parse(decoder.decode(line));
    for (const [path, value] of Object.entries(item.set)) {
      const keys = path.split('.');
      const name = keys.pop();
      keys.reduce((holder, key) => holder[key], body)[name] = value;
    }
    return Buffer.from(canonical(body));
  };
  return Buffer.concat(
    items.flatMap((item) => {
      if (text(item)) return [Buffer.from(item), feed];
      if ('same' in item) return base.slice(item.same[0] - 1, item.same[1]).flatMap((line) => [line, feed]);
      return item.lf === false ? [lineOf(item)] : [lineOf(item), feed];
    }),
  );
}

/** A case's ledger, as it differs from its base. */
function heldOf(ledger, folder) {
  if (!ledger) throw new CheckError('there is no such ledger');
  const { base, files } = ledger;
  const made = new Map();
  const kept = base ? JSON.parse(fs.readFileSync(join(folder, 'base', `${base}.json`), 'utf8')).files : {};
  for (const [path, items] of Object.entries(kept)) made.set(path, dataOf(items, []));
  for (const [path, items] of Object.entries(files)) {
    const lines = made.has(path) ? splitLines(made.get(path)).slice(0, -1) : [];
    if (items === null) made.delete(path);
    else made.set(path, dataOf(items, lines));
  }
  return new Held(made);
}

/** What a case says was kept outside. */
function anchorsOf({ checkpoints = {}, checkpoint_key: key, witnesses = [] }) {
  return {
    checkpoints: Object.entries(checkpoints).map(([name, held]) => keptOf(name, Buffer.from(held))),
    key: key === undefined ? null : trustedKey(key),
    witnesses: witnesses.map(trustedKey),
  };
}

/** Verifies a case and says in what it differs from what the case expects. */
async function differences(given, folder) {
  const { expect_head: head, system, roots, most, checkpoints, checkpoint_key, witnesses, ...others } = given.args;
  if (Object.keys(others).length) return [`cannot give ${Object.keys(others).join(', ')}`];
  const anchors = anchorsOf({ checkpoints, checkpoint_key, witnesses });
  if (system) {
    const ledgers = system.map((name) => [name, () => heldOf(given.ledgers[name], folder)]);
    return compare(given.expected, await verifySystem(new Map(ledgers), anchors));
  }
  const files = Object.entries(given.traces).map(([name, items]) => [name, dataOf(items, [])]);
  const shown = (given.spans ?? []).map((span) => ({ ...UNSAID, ...span }));
  const read = readTraces(files);
  const trace = given.spans || files.length ? { ...read, calls: [...shown, ...read.calls] } : null;
  const verified = (kept) => verify(heldOf(given.ledgers.ledger, folder), { trace, roots, most, ...kept });
  const told = compare(given.expected, await verified({ pin: readPin(head), anchors }));
  if (given.pin_needed) {
    const blind = compare({ verdict: 'CONDITIONAL', findings: [] }, await verified({}));
    told.push(...blind.map((one) => `without its pin: ${one}`));
  }
  return told;
}

function compare(expected, found) {
  const told = expected.verdict === found.verdict ? [] : [`verdict is ${found.verdict}; expected ${expected.verdict}`];
  const say = ({ code, entry, cause }) => `${code} ${entry} <- ${cause}`;
  const [wanted, got] = [expected.findings.map(say), found.findings.map(say)];
  for (const one of got) if (!wanted.includes(one)) told.push(`found ${one}`);
  for (const one of wanted) if (!got.includes(one)) told.push(`lacks ${one}`);
  if (!told.length && wanted.join() !== got.join()) told.push('the findings stand in another order');
  const counts = ({ more }) => JSON.stringify(more ?? {});
  if (!('members' in expected) && counts(expected) !== counts(found)) {
    told.push(`counts ${counts(found)} more; expected ${counts(expected)}`);
  }
  if ((expected.root ?? found.root) !== found.root) told.push(`root is ${found.root}; expected ${expected.root}`);
  for (const [name, verdict] of Object.entries(expected.members ?? {})) {
    const member = found.members[name]?.verdict ?? null;
    if (member !== verdict) told.push(`${name} is ${member}; expected ${verdict}`);
  }
  return told;
}

async function runVectors(folder) {
  let agree = 0;
  let differ = 0;
  const names = fs.readdirSync(folder).filter((name) => name.endsWith('.json')).sort();
  for (const name of names) {
    let told;
    try {
      told = await differences(JSON.parse(fs.readFileSync(join(folder, name), 'utf8')), folder);
    } catch (error) {
      told = [`${error.name}: ${error.message}`];
    }
    if (told.length) differ += 1;
    else agree += 1;
    for (const one of told) console.log(`${basename(name, '.json')}: ${one}`);
  }
  console.log(`${agree} agree, ${differ} differ`);
  return differ || !agree ? 1 : 0;
}

// -------------------------------------------------------------------- cli

const USAGE = `usage: node verifier.mjs LEDGER [--spans FILE]... [--expect-head SEQ:DIGEST] [--checkpoint FILE]...
                         [--checkpoint-key KEY] [--witness KEY]... [--root DIGEST_OR_KEY]...
                         [--require-pin] [--json]
       node verifier.mjs --system LEDGER... [--checkpoint FILE]... [--checkpoint-key KEY] [--witness KEY]...
       node verifier.mjs --vectors DIR`;

class UsageError extends Error {}

/** What is given on the command line, by option. */
const FLAGS = { '--json': 'json', '--require-pin': 'requirePin', '--system': 'system' };
const VALUES = { '--expect-head': 'head', '--checkpoint-key': 'key', '--vectors': 'vectors' };
const LISTS = { '--spans': 'spans', '--checkpoint': 'checkpoints', '--witness': 'witnesses', '--root': 'roots' };

function options(args) {
  const given = { ledgers: [], spans: [], checkpoints: [], witnesses: [], roots: [] };
  const rest = [...args];
  while (rest.length) {
    const arg = rest.shift();
    if (arg in FLAGS) given[FLAGS[arg]] = true;
    else if (arg in VALUES || arg in LISTS) {
      const value = rest.shift();
      if (value === undefined) throw new UsageError(`${arg} needs a value`);
      if (arg in LISTS) given[LISTS[arg]].push(value);
      else given[VALUES[arg]] = value;
    } else if (arg.startsWith('-')) throw new UsageError(`unknown option ${arg}`);
    else given.ledgers.push(arg);
  }
  const { ledgers, system, vectors, spans, head, roots } = given;
  if (vectors !== undefined ? ledgers.length : !ledgers.length) throw new UsageError('expected a ledger, or --vectors DIR');
  if (ledgers.length > 1 && !system) throw new UsageError('several ledgers are verified with --system');
  if (system && (spans.length || roots.length || head !== undefined)) {
    throw new UsageError('--system takes no trace, no --root and no --expect-head');
  }
  const bad = roots.find((root) => !digest(root) && !publicKey(root));
  if (bad !== undefined) throw new UsageError(`--root: expected sha256:<64 hex digits> or ed25519:<64 hex digits>, got ${bad}`);
  if (head !== undefined && !readPin(head)) {
    throw new UsageError('--expect-head: expected SEQ:sha256:<64 hex digits> with SEQ from 1');
  }
  return given;
}

/** A checkpoint that was kept outside. */
function keptOf(name, data) {
  const note = parseNote(data);
  const said = parseCheckpoint(note);
  if (!said) throw new CheckError(`${name} is no checkpoint`);
  return { name, note, said };
}

function trustedKey(value) {
  const key = parseKey(value);
  if (!key) throw new UsageError(`expected a key as <name>+<8 hex digits>+<base64>, got ${value}`);
  return key;
}

function readSmall(path) {
  try {
    return fs.readFileSync(path);
  } catch (error) {
    throw new CheckError(`cannot read ${path}: ${error.message}`);
  }
}

// A terminal obeys control characters; evidence must not.
const plain = (line) => line.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '?');

const sayFindings = (findings) => [
  findings.length ? `Findings: ${findings.length}` : 'Findings: none',
  ...findings.map(({ code, entry, cause }) => plain(`${cause === null ? '' : '    follows: '}${code}  ${entry}`)),
];

function report({ verdict, findings, more, head, unchecked }) {
  return [
    ...(unchecked.length ? ['Not checked', ...unchecked.map((one) => plain(`  ${one}`))] : []),
    ...sayFindings(findings),
    ...Object.entries(more).map(([code, count]) => `and ${count} more of ${code}, counted only`),
    `Head     ${head.seq}:${head.digest}`,
    `Verdict  ${verdict}`,
  ];
}

function systemReport({ verdict, findings, root, members }) {
  const inside = Object.entries(members).flatMap(([name, member]) => [
    plain(`${name}${member ? '' : ': no ledger that could be read'}`),
    ...(member ? report(member).map((line) => `  ${line}`) : []),
  ]);
  return [...inside, 'Between the ledgers', ...sayFindings(findings), `Root     ${root}`, `Verdict  ${verdict}`];
}

async function run(given) {
  if (given.vectors !== undefined) return runVectors(given.vectors);
  const anchors = {
    checkpoints: given.checkpoints.map((path) => keptOf(basename(path), readSmall(path))),
    key: given.key === undefined ? null : trustedKey(given.key),
    witnesses: given.witnesses.map(trustedKey),
  };
  const files = [...new Set(given.spans)].map((path) => [basename(path), readSmall(path)]);
  const trace = files.length ? readTraces(files) : null;
  const paths = [...new Set(given.ledgers.map((path) => (fs.existsSync(path) ? fs.realpathSync(path) : resolve(path))))].sort(byBytes);
  const found = given.system
    ? await verifySystem(new Map(paths.map((path) => [path, () => new Directory(path)])), anchors)
    : await verify(new Directory(given.ledgers[0]), { trace, pin: readPin(given.head), anchors, roots: given.roots });
  if (given.json) console.log(JSON.stringify(found, null, 1));
  else console.log((given.system ? systemReport(found) : report(found)).join('\n'));
  if (found.verdict === 'FAIL') return 1;
  if (found.verdict === 'INCOMPLETE') return 4;
  return given.requirePin && found.verdict !== 'PASS' ? 1 : 0;
}

async function main(args) {
  try {
    return await run(options(args));
  } catch (error) {
    if (error instanceof UsageError) console.error(`${error.message}\n${USAGE}`);
    else if (error instanceof CheckError || error.syscall) console.error(`error: ${error.message}`);
    else throw error;
    return error instanceof UsageError ? 2 : 3;
  }
}

process.exitCode = await main(process.argv.slice(2));
