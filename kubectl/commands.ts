import { check } from "./check/command.ts";
import type { Command } from "./kit/command.ts";
import { lint } from "./lint/command.ts";
import { logs } from "./logs/command.ts";
import { report } from "./report/command.ts";
import { status } from "./status/command.ts";
import { top } from "./top/command.ts";

/** Every command, in the order of the help. */
export const commands: readonly Command[] = [status, check, top, logs, report, lint];
