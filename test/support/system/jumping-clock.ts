/** Settings of a program whose wall clock is put on by `byMs` when it gets SIGUSR2, as that of a node may be; timers go on. */
export const jumpingClock = (byMs: number): Record<string, string> => ({
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(jump(byMs))}`,
});

const jump = (byMs: number): string => `
  const Clock = Date;
  let shift = 0;
  globalThis.Date = class Date extends Clock {
    constructor(...given) { given.length === 0 ? super(Clock.now() + shift) : super(...given); }
    static now() { return Clock.now() + shift; }
  };
  process.on("SIGUSR2", () => { shift = ${byMs}; });
`;
