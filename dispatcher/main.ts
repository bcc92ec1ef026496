import { heedSignals } from "#core/runtime/process/early-signals.ts";

heedSignals(); // before anything else is loaded
await import("./program.ts");
