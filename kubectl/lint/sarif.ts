import type { Log } from "sarif";
import { type Finding, rules } from "./finding.ts";

/** Findings as SARIF 2.1.0, for the code scanning of GitHub, GitLab and others. Source: OASIS, SARIF 2.1.0. */
export const sarif = (findings: readonly Finding[]): Log => ({
  $schema: "https://json.schemastore.org/sarif-2.1.0.json",
  version: "2.1.0",
  runs: [
    {
      tool: {
        driver: {
          name: "kubectl-herald",
          rules: Object.entries(rules).map(([id, text]) => ({ id, shortDescription: { text } })),
        },
      },
      results: findings.map(({ rule, level, file, line, column, resource, path, message }) => ({
        ruleId: rule,
        level,
        message: { text: [resource, path === "" ? message : `${path} ${message}`].filter(Boolean).join(": ") },
        locations: [
          {
            physicalLocation: {
              artifactLocation: { uri: file },
              region: { startLine: line, startColumn: column },
            },
          },
        ],
      })),
    },
  ],
});
