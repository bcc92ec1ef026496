import { expect } from "chai";
import { commands } from "../../../kubectl/commands.ts";
import { UsageError } from "../../../kubectl/kit/errors.ts";
import { mostInputBytes, readWhole } from "../../../kubectl/kit/input.ts";
import { ran } from "./ran.ts";

describe("kubectl herald", () => {
  it("says what there is when it is asked nothing", async () => {
    const { code, out, err } = await ran([]);
    expect({ code, err }).to.deep.equal({ code: 0, err: "" });
    for (const { name, summary } of commands) expect(out).to.contain(name).and.to.contain(summary);
  });

  for (const { name, options, exits } of commands)
    it(`says how ${name} is used: an example, its options, exit codes and permissions`, async () => {
      const { code, out } = await ran([...name.split(" "), "--help"]);
      expect(code).to.equal(0);
      expect(out)
        .to.contain(`kubectl herald ${name}`)
        .and.to.match(/Permissions:\n {2}\S/);
      for (const option of Object.keys(options)) expect(out).to.contain(`--${option}`);
      for (const text of Object.values(exits)) expect(out).to.contain(text);
    });

  const wrong: [args: string[], says: string][] = [
    [["statsu"], 'there is no command "statsu"'],
    [["status", "--wiat"], "Unknown option '--wiat'"],
    [["status", "a", "b"], 'status takes [APP]; "b" is too much'],
    [["status", "-o", "xml"], '--output takes wide, json, yaml; "xml" is none of them'],
    [["status", "-n", "a", "-A"], "--namespace and --all-namespaces exclude each other"],
    [["segment", "expalin"], "segment takes explain or preview"],
    [["send"], "-f names the notification's file"],
    [["send", "-f", "/nowhere"], "/nowhere cannot be read"],
    [["send", "-f", "-"], "- has no object of JSON or YAML"],
    [["segment", "explain", "Regulars"], "name a segment and an external id"],
    [["template", "render", "Hi", "--version", "0"], "--version takes a number, from 1"],
    [["webhook", "replay", "events", "--delivery", "whd_1", "--since", "2h"], "--since goes with a window"],
    [["webhook", "recover", "events", "--since", "yesterday"], "--since takes an instant"],
    [["why"], "name a notification by its id"],
    [["why", "msg_1", "ada", "--address", "a@example.com"], "one of them"],
    [["completion", "tcsh"], "completion takes bash, zsh, fish"],
    [["status", "--kubeconfig", "/nowhere"], "no such file: /nowhere"],
  ];
  for (const [args, says] of wrong)
    it(`refuses ${args.join(" ")}`, async () => {
      const { code, out, err } = await ran(args);
      expect({ code, out }).to.deep.equal({ code: 2, out: "" });
      expect(err).to.contain(says).and.to.contain("--help");
    });

  it("reads no more of stdin than it takes", async () => {
    const endless = async function* () {
      for (;;) yield Buffer.alloc(1024 * 1024);
    };
    const refused = await readWhole(endless(), "stdin").catch((error: unknown) => error);
    expect(refused)
      .to.be.instanceOf(UsageError)
      .and.have.property("message", `stdin has more than ${mostInputBytes} bytes`);
  });

  it("completes commands, options and the values that an option takes", async () => {
    const words = async (...typed: string[]) => (await ran(["__complete", ...typed])).out.split("\n").slice(0, -2);
    expect(await words("st")).to.deep.equal(["status"]);
    expect(await words("status", "--wa")).to.deep.equal(["--watch", "--wait"]);
    expect(await words("status", "-o", "")).to.deep.equal(["wide", "json", "yaml"]);
    expect(await words("seg")).to.deep.equal(["segment"]);
    expect(await words("segment", "")).to.deep.equal(["explain", "preview"]);
    expect(await words("webhook", "replay", "--status", "")).to.deep.equal(["success", "failed", "dead"]);
    expect(await words("completion", "z")).to.deep.equal(["zsh"]);
    for (const shell of ["bash", "zsh", "fish"])
      expect((await ran(["completion", shell])).out).to.contain("kubectl-herald");
  });
});
