import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { constants, createGzip } from "node:zlib";
import type { Import } from "#core/schema/imports/import.ts";
import type { System } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";
import { cpuOfEach, splitOf } from "../cpu.ts";
import { atMost } from "../figures/figure.ts";
import type { Measurement, Measurements } from "../measure-all.ts";
import { mostRssMiB, startPrograms } from "../programs.ts";

const whole = { rows: 500_000 };
const short: typeof whole = { rows: 2_000 };

/** A file as the third-party system exports it, of users and subscriptions that the app does not have; then again. */
const measureImports: Measurement = ({ isShort, withInstallation }, tell) =>
  withInstallation(async ({ system, stores }) => {
    const { rows } = isShort ? short : whole;
    const file = await playersOf(rows);
    const { apiserver, dispatchers, cpuUs } = await startPrograms({ system, stores }, 1);
    const take = async (): Promise<{ tookMs: number; taken: Import }> => {
      const beganMs = performance.now();
      const id = await upload(system, apiserver.url, file);
      let taken = await show(system, apiserver.url, id);
      await until(async () => {
        taken = await show(system, apiserver.url, id);
        return taken.status === "completed" || taken.status === "failed";
      }, 1_200_000);
      return { tookMs: performance.now() - beganMs, taken };
    };
    const cpuBefore = cpuUs();
    const first = await take();
    const each = cpuOfEach(cpuBefore, cpuUs(), rows);
    const { stats, error } = first.taken;
    if (stats.created_subscriptions !== rows) throw new Error(`not all was taken: ${error} ${JSON.stringify(stats)}`);
    const mb = (file.byteLength / 1e6).toFixed(0);
    tell(
      {
        name: `import of ${rows} rows`,
        reach: atMost(100),
        value: first.tookMs / 1_000,
        unit: "s",
        how: `new users with a push token each, ${mb} MB of gzip, from the upload's begin; CPU of a row, µs: ${splitOf(each)}`,
      },
      {
        name: "memory of a dispatcher that imports",
        reach: atMost(300),
        value: mostRssMiB(dispatchers),
        unit: "MiB",
        how: "peak RSS of the dispatcher",
      },
    );
    const again = await take();
    if (again.taken.stats.updated_users !== rows)
      throw new Error(`not all was found: ${JSON.stringify(again.taken.stats)}`);
    tell({
      name: `import of the same ${rows} rows again`,
      reach: atMost(200),
      value: again.tookMs / 1_000,
      unit: "s",
      how: "creates nothing; each user is read and written",
    });
  });

const names =
  "id,identifier,session_count,language,timezone,game_version,device_os,device_type,device_model,ad_id,tags,last_active," +
  "playtime,amount_spent,created_at,invalid_identifier,badge_count,external_user_id,notification_types\n";

const playersOf = (rows: number): Promise<Buffer> => {
  const gzip = createGzip({ level: constants.Z_BEST_SPEED });
  return buffer(Readable.from(linesOf(rows)).pipe(gzip));
};

function* linesOf(rows: number): Generator<string> {
  yield names;
  for (let n = 0; n < rows; n++) {
    const token = createHash("sha256").update(String(n)).digest("hex");
    const tags = `"{""plan"":""${n % 2 === 0 ? "free" : "pro"}"",""orders"":""${n % 40}""}"`;
    const device = `de,3600,4.2.1,17.${n % 6},0,"iPhone14,${n % 8}",,${tags}`;
    yield `${token.slice(0, 36)},${token},${n % 90},${device},2024-10-26 08:48:42,100,0,2018-10-26 08:48:42,f,0,customer-${n},1\n`;
  }
}

const upload = async ({ app, token }: System, url: string, file: Buffer): Promise<string> => {
  const form = new FormData();
  form.set("type", "thirdparty_players");
  form.set("file", new Blob([new Uint8Array(file)]), "players.csv.gz");
  const headers = { Authorization: `Bearer ${token}` };
  const reply = await fetch(`${url}/v1/apps/${app._id}/imports`, { method: "POST", headers, body: form });
  if (reply.status !== 200) throw new Error(`the upload was answered by ${reply.status}: ${await reply.text()}`);
  return ((await reply.json()) as Import).id; // what the interface documents
};

const show = async ({ app, token }: System, url: string, id: string): Promise<Import> => {
  const headers = { Authorization: `Bearer ${token}` };
  const reply = await fetch(`${url}/v1/apps/${app._id}/imports/${id}`, { headers });
  return (await reply.json()) as Import; // what the interface documents
};

/** Imports of files. */
export const imports: Measurements = { imports: measureImports };
