import { findTool } from "../files/find-tool.ts";

/** Path of a tool of releases. Throws when it is missing. */
export const tool = (name: string): string => {
  const path = findTool(name);
  if (path === null) throw new Error(`${name} is missing: make install-release-tools`);
  return path;
};
