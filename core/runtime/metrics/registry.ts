import { collectDefaultMetrics, Registry } from "prom-client";
import { type ApiserverMetrics, apiserverMetrics } from "./apiserver.ts";
import { type DispatcherMetrics, dispatcherMetrics } from "./dispatcher.ts";
import { type OperatorMetrics, operatorMetrics } from "./operator.ts";
import { type QueueMetrics, queueMetrics } from "./queue.ts";
import { type StoreMetrics, storeMetrics } from "./stores.ts";
import { type TraceMetrics, traceMetrics } from "./traces.ts";

export type ProgramName = keyof ProgramMetrics;

/** Everything one program measures. Labels are few and bounded: never an id or an address, and of tenants the ten loudest. */
export type Metrics<P extends ProgramName> = {
  registry: Registry;
  queue: QueueMetrics;
  stores: StoreMetrics;
  traces: TraceMetrics;
} & ProgramMetrics[P];

/** Declares the metrics of one program and those of its queues and stores, in a registry of their own. */
export const createMetrics = <P extends ProgramName>(program: P): Metrics<P> => {
  const registry = new Registry();
  registry.setDefaultLabels({ program });
  const shared = { queue: queueMetrics(registry), stores: storeMetrics(registry), traces: traceMetrics(registry) };
  return { registry, ...shared, ...ofProgram[program](registry) };
};

/** The same with those of the process. A program calls it once: what watches the process for it is there until that ends. */
export const createProcessMetrics = <P extends ProgramName>(program: P): Metrics<P> => {
  const metrics = createMetrics(program);
  collectDefaultMetrics({ register: metrics.registry });
  return metrics;
};

type ProgramMetrics = { apiserver: ApiserverMetrics; dispatcher: DispatcherMetrics; operator: OperatorMetrics };

const ofProgram: { [P in keyof ProgramMetrics]: (registry: Registry) => ProgramMetrics[P] } = {
  apiserver: apiserverMetrics,
  dispatcher: dispatcherMetrics,
  operator: operatorMetrics,
};
