import { setTimeout as sleep } from "node:timers/promises";
import type { SystemProgram } from "../../../support/system/system.ts";
import { nowAndThen, type Planted } from "./planted.ts";

/** What befalls single programs. */
export const programCases = (at: () => Planted): void => {
  it("one apiserver does not reach Redis", async () => {
    const { programs, devices, sendTo, fires, shows } = at();
    await fires(["HeraldReplicaCutOff"]);
    await shows("HeraldReplicaCutOff", '"pod":"cutOff"', '"dependency":"redis"');
    const device = await devices(1);
    await fires(["HeraldRateLimitsLocal"], () => sendTo(device, programs.cutOff));
    await shows("HeraldRateLimitsLocal", '"pod":"cutOff"');
  });

  it("nobody takes the traces", async () => {
    const { devices, sendTo, fires, shows } = at();
    const device = await devices(1);
    await fires(["HeraldSpansLost"], () => sendTo(device));
    await shows("HeraldSpansLost", "ECONNREFUSED");
  });

  it("the one dispatcher gets hardly any processor time", async () => {
    const { programs, devices, sendTo, fires, shows } = at();
    const device = await devices(1);
    const asked = async (): Promise<void> => {
      const soon = new Date(Date.now() + 1_000).toISOString();
      const later = { send_after: soon };
      await Promise.all([sendTo(device), sendTo(device), sendTo(device, programs.apiserver, later)]);
    };
    const late = ["HeraldSentLateBudgetBurnsFast", "HeraldSentLateBudgetBurnsSlowly"];
    const all = [...late, "HeraldTimersLate", "HeraldEventLoopBlocked"];
    await fires(
      all,
      nowAndThen(() => starve(programs.dispatcher, asked)),
    );
    for (const alert of [...late, "HeraldEventLoopBlocked"]) await shows(alert, '"pod":"dispatcher"');
    await shows("HeraldTimersLate", '"source":"messages"');
  });

  it("an apiserver ends again and again", async () => {
    const { programs, fires, shows } = at();
    const again = async (): Promise<void> => {
      await programs.cutOff.kill();
      await programs.cutOff.restart();
      await sleep(scrapeMs); // each start has to be seen
    };
    await fires(["HeraldProgramRestarts"], again);
    await shows("HeraldProgramRestarts", '"pod":"cutOff"');
  });
};

const scrapeMs = 3_500;
const pausedMs = 7_000; // longer than messages may wait
const slices = { count: 12, pausedMs: 700, runsMs: 200 };

/** Has a program do nothing while work comes, and then hardly anything; it runs again in the end. */
const starve = async (program: SystemProgram, work: () => Promise<void>): Promise<void> => {
  program.pause();
  try {
    await work();
    await sleep(pausedMs);
    for (let i = 0; i < slices.count; i++) {
      program.resume();
      await sleep(slices.runsMs);
      program.pause();
      await sleep(slices.pausedMs);
    }
  } finally {
    program.resume();
  }
};
