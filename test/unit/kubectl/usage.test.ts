import { expect } from "chai";
import { commands } from "../../../kubectl/commands.ts";
import { ran } from "./ran.ts";

describe("kubectl herald", () => {
  it("says what there is when it is asked nothing", async () => {
    const { code, out, err } = await ran([]);
    expect({ code, err }).to.deep.equal({ code: 0, err: "" });
    for (const { name, summary } of commands) expect(out).to.contain(name).and.to.contain(summary);
  });

  for (const { name, options, exits } of commands)
    it(`says how ${name} is used: an example, its options, exit codes and permissions`, async () => {
      const { code, out } = await ran([name, "--help"]);
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
    [["completion", "tcsh"], "completion takes bash, zsh, fish"],
    [["status", "--kubeconfig", "/nowhere"], "no such file: /nowhere"],
  ];
  for (const [args, says] of wrong)
    it(`refuses ${args.join(" ")}`, async () => {
      const { code, out, err } = await ran(args);
      expect({ code, out }).to.deep.equal({ code: 2, out: "" });
      expect(err).to.contain(says).and.to.contain("--help");
    });

  it("completes commands, options and the values that an option takes", async () => {
    const words = async (...typed: string[]) => (await ran(["__complete", ...typed])).out.split("\n").slice(0, -2);
    expect(await words("st")).to.deep.equal(["status"]);
    expect(await words("status", "--wa")).to.deep.equal(["--watch", "--wait"]);
    expect(await words("status", "-o", "")).to.deep.equal(["wide", "json", "yaml"]);
    expect(await words("completion", "z")).to.deep.equal(["zsh"]);
    for (const shell of ["bash", "zsh", "fish"])
      expect((await ran(["completion", shell])).out).to.contain("kubectl-herald");
  });
});
