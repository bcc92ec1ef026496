import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";
import { apnsBody, renderApns } from "#core/channels/ios-push/render.ts";
import { bin } from "../../../dev/files/paths.ts";
import { samplePush } from "../messages/sample-push.ts";
import { startSink } from "../sink.ts";

export type PeerResult = { cpuUsPerPush: number; perSecond: number };

/**
 * What a push costs the Go library apns2: the same pushes to the same simulator, `underWay` at a time. Null where Go is
 * missing, so that it was not built. Source: github.com/sideshow/apns2.
 */
export const benchApns2 = async (
  { pushes, warmUp }: { pushes: number; warmUp: number },
  underWay = 64,
): Promise<PeerResult | null> => {
  if (!existsSync(bin("apns2-peer"))) return null;
  const { url, credentials, stop } = await startSink();
  const { teamId, keyId, privateKeyPem } = credentials.apns;
  const given = {
    URL: url,
    CA: credentials.tls.cert,
    Key: privateKeyPem,
    KeyID: keyId,
    TeamID: teamId,
    Topic: "com.example.app",
    Payload: apnsBody(push, "PUSH_ID"),
    Pushes: pushes,
    WarmUp: warmUp,
    UnderWay: underWay,
  };
  const running = promisify(execFile)(bin("apns2-peer"), { timeout: 300_000 });
  running.child.stdin?.end(JSON.stringify(given));
  const { stdout } = await running.finally(stop);
  return JSON.parse(stdout) as PeerResult; // as peers/apns2/main.go prints it
};

const push = renderApns(samplePush);
