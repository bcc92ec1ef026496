import { heraldWorker } from "./worker.ts";

declare const self: ServiceWorkerGlobalScope;

heraldWorker(self);
