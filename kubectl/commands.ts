import type { Command } from "./kit/command.ts";
import { lint } from "./lint/command.ts";
import { status } from "./status/command.ts";

/** Every command, in the order of the help. */
export const commands: readonly Command[] = [status, lint];
