import type { Context } from "mocha";
import { diagnose } from "./diagnose.ts";
import { system } from "./system.ts";
import { endTrial } from "./trial.ts";

const hookTimeoutMs = 300_000;
let isInstalled = true; // until a test of the installation fails

/** Sets the system up once, tells what can be seen of a failure, and closes what was opened here. */
export const mochaHooks = {
  async beforeAll(this: Context): Promise<void> {
    this.timeout(hookTimeoutMs);
    await system();
  },
  beforeEach(): void {
    if (!isInstalled) throw new Error("the installation failed: there is nothing to test");
  },
  async afterEach(this: Context): Promise<void> {
    this.timeout(hookTimeoutMs);
    if (this.currentTest?.state !== "failed") return;
    if (this.currentTest.file?.endsWith("/install.test.ts")) isInstalled = false;
    console.error(await diagnose(await system()));
  },
  async afterAll(this: Context): Promise<void> {
    this.timeout(hookTimeoutMs);
    await endTrial();
    await (await system()).close();
  },
};
