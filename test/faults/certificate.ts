// Makes a self-signed certificate, so that the repository holds no key and no certificate that expires.
// Writes just enough DER for one: RFC 5280, section 4.1.

import { createPrivateKey, createPublicKey, generateKeyPairSync, sign } from "node:crypto";

export interface Certificate {
  /** PEM. */
  readonly key: string;
  /** PEM. */
  readonly cert: string;
}

const ECDSA_WITH_SHA256 = "2a8648ce3d040302";
const COMMON_NAME = "550403";
const BASIC_CONSTRAINTS = "551d13";
const SUBJECT_ALT_NAME = "551d11";

/** For one IPv4 address, valid from yesterday for eight days. */
export function createCertificate(address: string): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync("ec", {
    namedCurve: "P-256",
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  });
  const algorithm = sequence(objectId(ECDSA_WITH_SHA256));
  const name = sequence(der(0x31, sequence(objectId(COMMON_NAME), der(0x0c, Buffer.from("fault server")))));
  const day = 24 * 3_600_000;
  const validity = sequence(time(Date.now() - day), time(Date.now() + 7 * day));
  const isCa = sequence(der(0x01, Buffer.of(0xff)));
  const names = sequence(der(0x87, Buffer.from(address.split(".").map(Number))));
  const body = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, Buffer.of(1)),
    algorithm,
    name,
    validity,
    name,
    createPublicKey(publicKey).export({ type: "spki", format: "der" }),
    der(
      0xa3,
      sequence(
        sequence(objectId(BASIC_CONSTRAINTS), der(0x01, Buffer.of(0xff)), der(0x04, isCa)),
        sequence(objectId(SUBJECT_ALT_NAME), der(0x04, names)),
      ),
    ),
  );
  const signature = sign("sha256", body, createPrivateKey(privateKey));
  const certificate = sequence(body, algorithm, der(0x03, Buffer.concat([Buffer.of(0), signature])));
  const lines = certificate.toString("base64").match(/.{1,64}/g) ?? [];
  return {
    key: privateKey,
    cert: `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`,
  };
}

function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...size), content]);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

function objectId(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, "hex"));
}

function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/\..*$|[-:T]/g, "");
  return der(0x18, Buffer.from(`${digits}Z`));
}
