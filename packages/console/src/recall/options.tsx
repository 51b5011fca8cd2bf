import { Field } from "../parts/field.tsx";
import { localOf, timeOfLocal } from "../parts/times.tsx";
import { setQuery } from "../shell/route.ts";
import { type Form, KINDS, MOST, ROLES } from "./form.ts";
import { partNames, PARTS } from "./parts.ts";

/** The options of the call. Each is in the address, and takes effect at once. */
export const Options = ({ form }: { form: Form }) => (
  <div class="card" role="group" aria-label="Options">
    <div class="row">
      <Limits form={form} />
      <Moment form={form} name="asOf" label="As known on" />
      <Moment form={form} name="referenceDate" label="Asked on" />
      <Switch
        label="No hits if nothing fits"
        is={form.answerable}
        set={(is) => setQuery({ answerable: is ? "auto" : undefined })}
      />
      <Switch
        label="Times in the query count"
        is={form.timeMode}
        set={(is) => setQuery({ timeMode: is ? undefined : "off" })}
      />
    </div>
    <Choice form={form} name="kinds" all={KINDS} label="Kinds" />
    <Choice form={form} name="roles" all={ROLES} label="Messages of" />
    <Weights form={form} />
  </div>
);

const Limits = ({ form }: { form: Form }) => (
  <>
    <label>
      Hits{" "}
      <Field
        type="number"
        min={1}
        max={MOST}
        value={form.k}
        change={(field) => setQuery({ k: field.valueAsNumber || 10 })}
      />
    </label>
    <label>
      Minimum score {form.minScore.toFixed(2)}{" "}
      <input
        type="range"
        min={0}
        max={1}
        step={0.01}
        value={form.minScore}
        onInput={({ currentTarget }) => setQuery({ minScore: currentTarget.valueAsNumber || undefined })}
      />
    </label>
  </>
);

type MomentProps = { form: Form; name: "asOf" | "referenceDate"; label: string };
const Moment = ({ form, name, label }: MomentProps) => (
  <label>
    {label}{" "}
    <Field
      type="datetime-local"
      value={form[name] === undefined ? "" : localOf(form[name])}
      change={(field) => setQuery({ [name]: timeOfLocal(field.value) })}
    />
  </label>
);

const Switch = ({ label, is, set }: { label: string; is: boolean; set: (is: boolean) => void }) => (
  <label class="check">
    <input type="checkbox" checked={is} onChange={({ currentTarget }) => set(currentTarget.checked)} />{" "}
    {label}
  </label>
);

type ChoiceProps = { form: Form; name: "kinds" | "roles"; all: readonly string[]; label: string };
function Choice({ form, name, all, label }: ChoiceProps) {
  const chosen = form[name].length === 0 ? all : form[name];
  const toggle = (one: string) => {
    const after = chosen.includes(one) ? chosen.filter((other) => other !== one) : [...chosen, one];
    setQuery({ [name]: after.length === all.length || after.length === 0 ? undefined : after.join(",") });
  };
  return (
    <fieldset class="choice">
      <legend>{label}</legend>
      {all.map((one) => (
        <Switch key={one} label={one} is={chosen.includes(one)} set={() => toggle(one)} />
      ))}
    </fieldset>
  );
}

const Weights = ({ form }: { form: Form }) => (
  <fieldset class="weights">
    <legend>Weights</legend>
    {partNames.map((part) => (
      <label key={part} title={PARTS[part]}>
        <span>
          {part} × {(form.weights[part] ?? 1).toFixed(1)}
        </span>
        <input
          type="range"
          min={0}
          max={3}
          step={0.1}
          value={form.weights[part] ?? 1}
          onInput={({ currentTarget: { valueAsNumber } }) =>
            setQuery({ [`w-${part}`]: valueAsNumber === 1 ? undefined : valueAsNumber })
          }
        />
      </label>
    ))}
    <button
      type="button"
      onClick={() => setQuery(Object.fromEntries(partNames.map((part) => [`w-${part}`, undefined])))}
    >
      All as they were
    </button>
  </fieldset>
);
