// process and navigator: masked stand-ins that bundles look at while they load.
// They know nothing of the machine: no environment, no arguments, no secrets.
(function ({ $Error, $TypeError, apply, defineProperty, host, log, queue, text }) {
  const nothing = () => process;
  const refusing = (name) => () => {
    throw new $Error(`process.${name} is not available to plugins.`);
  };
  const writing = (level) => ({
    isTTY: false,
    write(line) {
      log(level, text(line).replace(/\n$/, ""));
      return true;
    },
  });
  const hrtime = (before) => {
    const ms = +host("now");
    const seconds = Math.floor(ms / 1000);
    const nanos = Math.floor((ms % 1000) * 1e6);
    if (before === undefined) {
      return [seconds, nanos];
    }
    const less = nanos < before[1] ? 1 : 0;
    return [seconds - before[0] - less, nanos - before[1] + less * 1e9];
  };
  hrtime.bigint = () => BigInt(Math.floor(+host("now") * 1e6));

  const process = {
    env: {},
    argv: [],
    execArgv: [],
    pid: 1,
    ppid: 0,
    title: "plugin",
    platform: "linux",
    arch: "x64",
    version: "",
    versions: {},
    release: {},
    exitCode: undefined,
    stdout: writing("info"),
    stderr: writing("error"),
    cwd: () => "/plugin",
    uptime: () => +host("now") / 1000,
    hrtime,
    nextTick(run, ...args) {
      if (typeof run !== "function") {
        throw new $TypeError("process.nextTick needs a function.");
      }
      queue(() => apply(run, undefined, args));
    },
    memoryUsage: () => ({ rss: 0, heapTotal: 0, heapUsed: 0, external: 0, arrayBuffers: 0 }),
    emitWarning(message) {
      log("warning", text(message));
    },
    listeners: () => [],
    listenerCount: () => 0,
    emit: () => false,
  };
  for (const name of ["on", "once", "off", "addListener", "removeListener", "removeAllListeners", "prependListener", "setMaxListeners"]) {
    process[name] = nothing;
  }
  for (const name of ["exit", "abort", "kill", "chdir", "dlopen", "binding", "setuid", "setgid", "umask"]) {
    process[name] = refusing(name);
  }
  defineProperty(process, Symbol.toStringTag, { value: "process" });

  const navigator = {
    userAgent: "Conclave", language: "en-US", languages: ["en-US"], hardwareConcurrency: 1, onLine: true, platform: "", vendor: "",
  };
  return { process, navigator };
})
