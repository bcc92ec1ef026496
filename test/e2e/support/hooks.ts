import type { Context } from "mocha";
import { diagnose } from "./diagnose.ts";
import { system } from "./system.ts";

const hookTimeoutMs = 120_000;

/** Sets the system up once, tells what can be seen of a failure, and closes what was opened here. */
export const mochaHooks = {
  async beforeAll(this: Context): Promise<void> {
    this.timeout(hookTimeoutMs);
    await system();
  },
  async afterEach(this: Context): Promise<void> {
    this.timeout(hookTimeoutMs);
    if (this.currentTest?.state === "failed") console.error(await diagnose(await system()));
  },
  async afterAll(this: Context): Promise<void> {
    this.timeout(hookTimeoutMs);
    await (await system()).close();
  },
};
