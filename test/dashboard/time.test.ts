import { afterEach, describe, expect, it } from "vitest";
import { clock, foreignZone, moment, offsetMinutes, setZone } from "../../dashboard/src/parts/time.ts";

const at = (text: string): number => Date.parse(text);

afterEach(() => setZone("UTC"));

describe("instants on the page", () => {
  it("are told by the router's clock, whatever the reader's", () => {
    setZone("Asia/Kolkata");

    expect(clock(at("2026-11-30T20:00:00Z"))).toBe("01:30:00");
    expect(foreignZone(at("2026-11-30T20:00:00Z"))).toBe("Asia/Kolkata");
  });

  it("name the day only where it is another one", () => {
    setZone("America/New_York");

    expect(moment(at("2026-12-01T03:00:00Z"), at("2026-12-01T04:00:00Z"))).toBe("22:00:00");
    expect(moment(at("2026-12-01T03:00:00Z"), at("2026-12-01T08:00:00Z"))).toBe("30 Nov, 22:00:00");
  });

  it("follow the change of summer time in the middle of a night", () => {
    setZone("Europe/Berlin");

    expect(clock(at("2026-10-25T00:59:59Z"))).toBe("02:59:59");
    expect(clock(at("2026-10-25T01:00:00Z"))).toBe("02:00:00");
  });

  it.each([
    ["UTC", "2026-11-30T23:59:59Z", 0],
    ["Europe/Berlin", "2026-11-30T23:30:00Z", -60],
    ["Europe/Berlin", "2026-06-30T23:30:00Z", -120],
    ["America/Los_Angeles", "2026-11-30T03:00:00Z", 480],
    ["Asia/Kolkata", "2026-11-30T20:00:00Z", -330],
  ])("know how far %s is from UTC at %s", (zone, instant, minutes) => {
    setZone(zone);

    expect(offsetMinutes(at(instant))).toBe(minutes);
  });

  it("stay as they were where the zone is none", () => {
    setZone("Europe/Berlin");
    setZone("Middle-earth/Shire");

    expect(clock(at("2026-11-30T12:00:00Z"))).toBe("13:00:00");
  });
});
