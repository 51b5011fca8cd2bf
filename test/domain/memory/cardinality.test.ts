import { expect, it } from "vitest";
import { defaultRule } from "../../../src/domain/memory/predicates.ts";

const lines = (text: string): string[] => text.trim().split(/\s*[,\n]\s*/u);
const ofOther = (cardinality: "one" | "many", predicates: string[]): string[] =>
  predicates.filter((predicate) => defaultRule(predicate).cardinality !== cardinality);

it("keeps all objects of predicates that no table knows", () => {
  const everyday = lines(`
    allergy, takes medication, has a son, friend, bought, works on project, likes, speaks, owns, visited
    is, is allergic to, child, pet, hobby, plays, instrument, certificate, sibling, met
    knows, prefers, uses, fears, wants to, has, has daughter, studied, member of, goes to, volunteers at, watches`);
  expect(ofOther("many", everyday)).toEqual([]);
});

it("keeps all objects of predicates in other languages", () => {
  const foreign = lines(`
    wohnt in, arbeitet bei, mag, Adresse, vit à, travaille chez, adresse, vive en, trabaja en, cumpleaños
    mora em, vive a, woont in, bor i, mieszka w, живёт в, работает в, 住んでいる, 住在, 살고 있다, يعيش في`);
  expect(ofOther("many", foreign)).toEqual([]);
});

it("knows predicates with one object by their verb and by their last noun", () => {
  const one = lines(`
    lives in, Lives  In, lives_in, livesIn, is living in, currently lives in, resides in, works at, works for, works as, is employed by
    is named, name, full name, user's name, home city, current address, place of work, born on, was born in, birthday, date of birth
    e-mail, E-Mail, email, work e-mail, email address, has email, phone, phone number, mobile, age, manager, has a manager, GP
    time zone, timezone, marital status, is married to, job title, jobTitle, salary, shoe size, blood type, name is`);
  expect(ofOther("one", one)).toEqual([]);
});

it("takes what is favourite for one, and its plural for many", () => {
  expect(ofOther("one", lines("favourite colour, favorite ice cream flavour, preferred language"))).toEqual(
    [],
  );
  expect(ofOther("many", lines("favourite colours, preferred languages"))).toEqual([]);
});

it("keeps all objects of what is over, of what is denied, and of what others have", () => {
  const several = lines(`
    lived in, worked at, former employer, previous address, also lives in, another phone, second e-mail
    no longer works at, does not live in, never lived in, used to work at, is not named, stopped working at
    pet name, child's name, sister's birthday, name of child, friend's phone, visited city, knows address, phone numbers`);
  expect(ofOther("many", several)).toEqual([]);
});

it("keeps all objects of a predicate that ends in “of”: the noun is then the subject", () => {
  const several = lines(`
    is mother of, is the mother of, is father of, manager of, is landlord of, is CEO of, captain of, is mayor of, husband of
    is name of, is main supplier of, is main supplier to, favourite of, favourite among`);
  expect(ofOther("many", several)).toEqual([]);
});

it("keeps all objects of what was so, unless it is a birth or a name", () => {
  const over = lines(`
    was married to, was employed by, had been employed by, was based in, had manager, had a manager, was manager, manager was
    favourite film was, was living in`);
  expect(ofOther("many", over)).toEqual([]);
  expect(ofOther("one", lines("was born in, was called, was named, has been named, were born in"))).toEqual(
    [],
  );
});

it("takes a favourite for many if any of its words is a plural", () => {
  const several = lines(`
    favourite people, favourite children, favourite things to do, favourite places to visit, main languages spoken
    favourite books as a child, favourite women, favourite men of all time`);
  expect(ofOther("many", several)).toEqual([]);
  expect(ofOther("one", lines("favourite place to visit, favourite film as a child, main bus"))).toEqual([]);
});
