// Preloaded into a measured server. Answers the bench with the processor time of all threads, in milliseconds: until the
// tools were listed, and until now. Reports nothing by itself, and doesn't keep the process alive.

const { stdout } = process;
const { write } = stdout;
let listed;

function milliseconds() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

stdout.write = (text, ...rest) => {
  if (String(text).includes('"tools":[')) {
    listed = milliseconds();
    stdout.write = write;
  }
  return write.call(stdout, text, ...rest);
};
process.on("message", () => process.send({ listed, total: milliseconds() }));
process.channel.unref();
