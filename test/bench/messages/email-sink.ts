import { type SmtpSimulatorOptions, startSmtp } from "../../../dev/simulators/smtp.ts";

/** What the parent says first. */
export type EmailSinkSettings = Pick<SmtpSimulatorOptions, "tls" | "login" | "dkim">;

// The mail simulator as a process of its own: the parent sends settings, gets the address, and asks for counts.
const serve = async (settings: EmailSinkSettings): Promise<void> => {
  const simulator = await startSmtp({ port: 0, ...settings });
  process.on("message", () => {
    const mails = simulator.log.page().filter(({ body }) => body.includes('"dkim":"valid"')).length;
    process.send?.({ ...simulator.log.counts(), mails });
  });
  process.send?.({ url: simulator.url });
};
process.once("message", (settings: EmailSinkSettings) => void serve(settings));
process.once("disconnect", () => process.exit());
