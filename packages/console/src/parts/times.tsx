const FORMAT = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });

/** A time may be any number that JSON has, and not every one is a date. */
const isDate = (at: number): boolean => !Number.isNaN(new Date(at).getTime());
export const timeText = (at: number): string => (isDate(at) ? FORMAT.format(at) : String(at));
export const dayText = (at: number): string => (isDate(at) ? DAY.format(at) : String(at));

/** A point in time, in the reader's zone; the title has it to the second, in UTC. */
export const Time = ({ at, day = false }: { at: number; day?: boolean }) =>
  isDate(at) ? (
    <time dateTime={new Date(at).toISOString()} title={new Date(at).toISOString()}>
      {day ? dayText(at) : timeText(at)}
    </time>
  ) : (
    <span>{at}</span>
  );

/** The value of an input of the type `datetime-local`, in the reader's zone. */
export function localOf(at: number): string {
  const date = new Date(at - new Date(at).getTimezoneOffset() * 60_000);
  return date.toISOString().slice(0, 16);
}
/** The time that such an input names; undefined for an empty one. */
export const timeOfLocal = (value: string): number | undefined =>
  value === "" ? undefined : new Date(value).getTime();
