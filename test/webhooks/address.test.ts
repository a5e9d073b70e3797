import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { SystemClock } from "../../src/system/clock.ts";
import { type Address, checkedAddress, isPrivate } from "../../src/webhooks/address.ts";
import { post } from "../../src/webhooks/post.ts";

const address = (text: string): Address => ({ address: text, family: text.includes(":") ? 6 : 4 });

describe("an address that is nobody else's", () => {
  it.each([
    ..."127.0.0.1 127.8.9.1 10.1.2.3 172.16.0.1 172.31.255.255 192.168.0.1 169.254.169.254 100.64.0.1".split(" "),
    ..."0.0.0.0 192.0.2.1 198.18.0.1 198.51.100.7 203.0.113.7 224.0.0.1 255.255.255.255".split(" "),
    ..."::1 :: fe80::1 fc00::1 fd12:3456::1 ff02::1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 64:ff9b::a00:1".split(" "),
    ..."2002:7f00:1:: 2001:db8::1 2001::1 ::127.0.0.1 100::1".split(" "),
    "not an address",
  ])("%s is refused", (text) => {
    expect(isPrivate(address(text))).toBe(true);
  });

  it.each("8.8.8.8 1.1.1.1 172.32.0.1 100.128.0.1 198.20.0.1 2606:4700::1 2a00:1450:4001::1".split(" "))(
    "%s is not",
    (text) => {
      expect(isPrivate(address(text))).toBe(false);
    },
  );
});

describe("where a webhook may go", () => {
  const leadsTo =
    (...texts: string[]) =>
    async () =>
      texts.map(address);
  const ask = (url: string, allowPrivate: boolean, ...texts: string[]) =>
    checkedAddress(new URL(url), allowPrivate, leadsTo(...texts));

  it("a name is refused when any of its addresses is private", async () => {
    expect(await ask("https://a.example", false, "8.8.8.8", "10.0.0.1")).toMatchObject({ kind: "refused" });
    expect(await ask("https://a.example", false, "8.8.8.8")).toEqual({ kind: "go", to: address("8.8.8.8") });
    expect(await ask("https://a.example", true, "10.0.0.1")).toMatchObject({ kind: "go" });
  });

  it("plain http is for those who allowed private addresses", async () => {
    expect(await ask("http://a.example", false, "8.8.8.8")).toMatchObject({ kind: "refused" });
    expect(await ask("http://a.example", true, "8.8.8.8")).toMatchObject({ kind: "go" });
  });

  it("an address written as a number of another kind is seen through", async () => {
    // The URL parser makes 127.0.0.1 of each; the system's resolver would be asked about exactly that.
    for (const host of ["2130706433", "0x7f.1", "127.1"]) {
      const url = new URL(`https://${host}/`);
      expect(await checkedAddress(url, false, async (name) => [address(name)])).toMatchObject({ kind: "refused" });
    }
  });
});

it("a name that leads elsewhere at the second look is connected to what was looked at", async () => {
  const hosts: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    hosts.push(request.headers.host);
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  let looks = 0;
  const clock = new SystemClock();
  onTestFinished(() => clock.stop());
  const resolve = async () => [address(++looks === 1 ? "127.0.0.1" : "127.0.0.99")];

  const posted = await post(
    { url: `http://rebinding.example:${port}/`, allowPrivate: true },
    {},
    "{}",
    { clock, resolve },
    new AbortController().signal,
  );

  expect(posted).toEqual({ kind: "taken", status: 204 });
  expect(hosts).toEqual([`rebinding.example:${port}`]);
  expect(looks).toBe(1);
});
