import { check } from "./check/command.ts";
import type { Command } from "./kit/command.ts";
import { lint } from "./lint/command.ts";
import { logs } from "./logs/command.ts";
import { report } from "./report/command.ts";
import { segmentExplain, segmentPreview } from "./segment/commands.ts";
import { send } from "./send/command.ts";
import { status } from "./status/command.ts";
import { templateRender } from "./template/commands.ts";
import { top } from "./top/command.ts";
import { verifyCounts } from "./verify/command.ts";
import { webhookRecover, webhookReplay } from "./webhook/commands.ts";
import { why } from "./why/command.ts";

/** Every command, in the order of the help. */
export const commands: readonly Command[] = [
  status,
  check,
  top,
  logs,
  report,
  lint,
  why,
  send,
  segmentExplain,
  segmentPreview,
  templateRender,
  webhookRecover,
  webhookReplay,
  verifyCounts,
];
