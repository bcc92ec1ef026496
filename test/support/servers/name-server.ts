import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { once } from "node:events";
import { isIPv6 } from "node:net";

/** One record of an answer; `name` is the name that was asked for when left out. */
export type DnsRecord = { name?: string; type: "A" | "AAAA" | "CNAME"; data: string };

/** What is answered: records (none: there is no such record), that the name or the server fails, or nothing at all. */
export type DnsAnswer = readonly DnsRecord[] | "no such name" | "failure" | "silence";

export type NameServer = {
  /** `127.0.0.1:<port>` */
  address: string;
  /** Every question so far: `A hooks.example.com`. */
  asked: () => string[];
  stop: () => Promise<void>;
};

/** A DNS server on loopback (UDP) that answers what a test says. Source of the format: RFC 1035 4. */
export const startNameServer = async (answer: (name: string, type: string) => DnsAnswer): Promise<NameServer> => {
  const asked: string[] = [];
  const socket = createSocket("udp4");
  socket.on("message", (question, from) => {
    const { name, type } = read(question);
    asked.push(`${type} ${name}`);
    reply(socket, from, question, answer(name, type));
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked: () => [...asked],
    stop: async () => {
      socket.close();
      await once(socket, "close");
    },
  };
};

const typeCodes = { A: 1, CNAME: 5, AAAA: 28 } as const;
const headBytes = 12;

const read = (question: Buffer): { name: string; type: string } => {
  const labels: string[] = [];
  let at = headBytes;
  for (let size = question.readUInt8(at); size > 0; size = question.readUInt8(at)) {
    labels.push(question.toString("latin1", at + 1, at + 1 + size));
    at += size + 1;
  }
  const code = question.readUInt16BE(at + 1);
  const type = Object.entries(typeCodes).find(([, known]) => known === code)?.[0] ?? String(code);
  return { name: labels.join(".").toLowerCase(), type };
};

const reply = (socket: Socket, { port, address }: RemoteInfo, question: Buffer, answer: DnsAnswer): void => {
  if (answer === "silence") return;
  const { name } = read(question);
  const records = typeof answer === "string" ? [] : answer;
  const head = Buffer.alloc(headBytes);
  question.copy(head, 0, 0, 2); // the question's id
  head.writeUInt16BE(0x8180 | (answer === "no such name" ? 3 : answer === "failure" ? 2 : 0), 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(records.length, 6);
  const asked = Buffer.concat([nameBytes(name), question.subarray(headBytes + nameBytes(name).length).subarray(0, 4)]);
  socket.send(Buffer.concat([head, asked, ...records.map((record) => recordBytes(name, record))]), port, address);
};

const recordBytes = (asked: string, { name = asked, type, data }: DnsRecord): Buffer => {
  const value = type === "CNAME" ? nameBytes(data) : addressBytes(data);
  const head = Buffer.alloc(10); // type, class IN, life 0 s, length
  head.writeUInt16BE(typeCodes[type], 0);
  head.writeUInt16BE(1, 2);
  head.writeUInt16BE(value.length, 8);
  return Buffer.concat([nameBytes(name), head, value]);
};

const nameBytes = (name: string): Buffer =>
  Buffer.concat([
    ...name.split(".").map((label) => Buffer.concat([Buffer.of(label.length), Buffer.from(label)])),
    Buffer.of(0),
  ]);

const addressBytes = (address: string): Buffer => {
  if (!isIPv6(address)) return Buffer.from(address.split(".").map(Number));
  const groups = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::");
  const [before = [], after = []] = groups.map((half) => half.split(":").filter((group) => group !== ""));
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => "0");
  return Buffer.from(
    [...before, ...zeros, ...after].flatMap((group) => {
      const value = Number.parseInt(group, 16);
      return [value >> 8, value & 255];
    }),
  );
};
