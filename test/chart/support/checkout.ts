import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { bin, rootDir } from "../../../dev/files/paths.ts";

/** A folder like a checkout, whose `helm` does not wait for Jobs: there are no nodes to run them. */
export const aCheckout = async (dir: string, helm: string): Promise<string> => {
  const home = join(dir, "home");
  await mkdir(join(home, "bin"), { recursive: true });
  for (const name of ["charts", "config", "deploy", "crds"]) await symlink(join(rootDir, name), join(home, name));
  await symlink(bin("kubectl"), join(home, "bin/kubectl"));
  const script = `#!/bin/sh\ncase $1 in install|upgrade|rollback|uninstall) set -- "$@" --no-hooks;; esac\nexec ${helm} "$@"\n`;
  await writeFile(join(home, "bin/helm"), script);
  await chmod(join(home, "bin/helm"), 0o755);
  return home;
};
