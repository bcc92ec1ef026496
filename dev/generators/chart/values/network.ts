import { closed, flag, kubernetesList, ports, portsOrNone, ranges } from "./shapes.ts";

const from = (who: string) => ({ from: kubernetesList(`${who}, as peers of a NetworkPolicy`) });

/** Values of the NetworkPolicies. */
export const networkValues = {
  networkPolicy: closed("default deny, and every flow by name", {
    enabled: flag("makes NetworkPolicies"),
    dns: closed("look-up of names", {
      to: kubernetesList("who answers, as peers of a NetworkPolicy"),
      ports: ports("its ports, UDP and TCP"),
    }),
    kubernetesApi: closed("the operator's way to the Kubernetes API", {
      ports: ports("as the API server itself listens"),
      cidrs: ranges("its addresses; empty = any"),
    }),
    metrics: closed("scraping", from("who may read /metrics")),
    natsMonitor: closed("the bundled NATS's monitoring port", from("who may read it")),
    apiserver: closed("the REST interface", {
      ...from("who may call it; empty = everybody who can reach the pods"),
      smtpFrom: kubernetesList(
        "who may bring mails, with apiserver.smtp.domain, as peers of a NetworkPolicy; empty = everybody who can reach the pods",
      ),
    }),
    dispatcher: closed("the dispatcher's way out", {
      mailPorts: ports("ports of mail servers"),
      applePorts: portsOrNone("ports where Apple makes broadcast channels of live activities"),
      privateRanges: closed("networks that the internet's rule leaves out", {
        ipv4: ranges("ranges of IPv4"),
        ipv6: ranges("ranges of IPv6"),
      }),
      extraEgress: kubernetesList("more rules, as in a NetworkPolicy's egress"),
    }),
  }),
};
