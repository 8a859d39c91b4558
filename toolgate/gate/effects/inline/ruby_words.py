"""What the methods of Ruby and its standard library do."""

from toolgate.gate.effects.inline.vocabulary import Vocabulary, acts, pairs

_ACTS = acts(
    """
shell 0: `
argv 0: system exec spawn Process.spawn Process.exec IO.popen PTY.spawn Open3.popen2 Open3.popen2e
    Open3.popen3 Open3.capture2 Open3.capture2e Open3.capture3 *.popen *.capture2 *.capture3
    *.capture2e *.popen3 sh Process.daemon
pipeline 0: Open3.pipeline Open3.pipeline_r Open3.pipeline_w Open3.pipeline_start
deletes 0: File.delete File.unlink Dir.delete Dir.rmdir Dir.unlink FileUtils.rm FileUtils.rm_f
    FileUtils.remove FileUtils.rmdir FileUtils.safe_unlink rm rm_f
trees 0: FileUtils.rm_r FileUtils.rm_rf FileUtils.rmtree FileUtils.remove_dir FileUtils.remove_entry
    FileUtils.remove_entry_secure FileUtils.remove_file *.rm_rf *.rm_r *.rmtree
    *.remove_entry_secure
    rm_rf rm_r remove_entry_secure remove_dir
delete o: Pathname.delete Pathname.unlink Pathname.rmdir
tree o: Pathname.rmtree
write 0: File.write File.binwrite IO.write IO.binwrite File.truncate FileUtils.touch Dir.mkdir
    FileUtils.mkdir FileUtils.mkdir_p File.mkfifo mkdir_p touch
write o: Pathname.write Pathname.binwrite Pathname.mkpath
read 0: File.read File.binread File.readlines File.foreach IO.read IO.readlines IO.foreach
    IO.binread YAML.load_file YAML.safe_load_file YAML.unsafe_load_file JSON.load_file CSV.read
    CSV.foreach Dotenv.load File.stat
read o: Pathname.read Pathname.readlines Pathname.binread
open 0: File.open File.new open Kernel.open IO.sysopen CSV.open Zip.File.open Pathname.open
fetch 0: URI.open Net.HTTP.get Net.HTTP.get_response HTTParty.get Faraday.get RestClient.get
    HTTP.get
    Excon.get
send 0: Net.HTTP.post Net.HTTP.post_form HTTParty.post HTTParty.put HTTParty.delete Faraday.post
    Faraday.put RestClient.post RestClient.put RestClient.delete HTTP.post HTTP.put Excon.post
    Net.SMTP.start Net.FTP.new Net.SSH.start
http 0: Net.HTTP.start Net.HTTP.new
connect 0: TCPSocket.new TCPSocket.open UDPSocket.new Socket.tcp
serve 1: TCPServer.new TCPServer.open
serve 0: WEBrick.HTTPServer.new
copy 0: FileUtils.cp FileUtils.cp_r FileUtils.copy FileUtils.copy_file FileUtils.copy_entry
    FileUtils.install IO.copy_stream cp cp_r
move 0: FileUtils.mv FileUtils.move File.rename mv
link 1: FileUtils.ln FileUtils.ln_s FileUtils.ln_sf File.symlink File.link ln_s ln_sf
permissions 1: File.chmod FileUtils.chmod FileUtils.chmod_R chmod chmod_R
permissions 2: File.chown FileUtils.chown FileUtils.chown_R
chdir 0: Dir.chdir FileUtils.cd FileUtils.chdir chdir cd
file 0: load require_relative
eval 0: eval instance_eval class_eval module_eval *.instance_eval *.class_eval *.module_eval
    binding.eval Binding.eval TOPLEVEL_BINDING.eval
opaque 0: method *.method define_method *.instance_method syscall Fiddle.dlopen
    ObjectSpace.each_object
apply 0: send __send__ public_send *.send *.__send__ *.public_send
kill 0: Process.kill
sql 0: *.execute *.exec *.exec_query *.query *.select_all *.exec_params *.execute_batch
"""
)
WORDS = Vocabulary(
    language="ruby",
    acts=_ACTS,
    modules={},
    objects=pairs("Pathname.new=Pathname Pathname=Pathname"),
    environment=frozenset(("ENV",)),
    getters=frozenset(("ENV.fetch", "ENV.dig", "ENV.delete")),
    importers=frozenset(),
    places=pairs("Dir.home=home Dir.pwd=here Dir.getwd=here __dir__=here Dir.tmpdir=temp"),
    same=frozenset(
        (
            *(
                "File.expand_path",
                "File.absolute_path",
                "File.realpath",
                "URI",
                "URI.parse",
                "Pathname",
            ),
            *("Pathname.new", "String", "Array", "Shellwords.split", "JSON.generate"),
        )
    ),
    joins=frozenset(("File.join", "Pathname.join")),
    finds=pairs("Dir.glob= Dir.[]= Dir.entries=* Dir.children=* Dir.each_child=* Pathname.glob="),
    prints=frozenset(
        (
            "puts",
            "print",
            "p",
            "pp",
            "printf",
            "warn",
            "$stdout.puts",
            "$stdout.print",
            "$stdout.write",
            "$stderr.puts",
            "STDOUT.puts",
            "STDERR.puts",
        )
    ),
    acting=("FileUtils", "Open3"),
)
