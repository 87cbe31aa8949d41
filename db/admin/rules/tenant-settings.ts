import { Int, Obj, OneOf, Opt } from '../../../config/schema.ts'
import type { Static } from '../../../config/schema.ts'

/** Settings of the tenant as a whole, a section per module; every key has a default. */
export const TenantSettings = Obj({
  guests: Obj({
    /** Years without a stay after which an erasure is proposed; 0 = never. */
    inactiveYears: Int(0, 20),
    revealsPerHour: Int(10, 500),
  }),
  support: Obj({
    /** The support sessions of the provider that the tenant allows: `write` reads, too. */
    access: OneOf(['write', 'read', 'none']),
  }),
})

/** A change of settings: only the keys that are sent change. */
export const TenantSettingsChange = Obj({
  guests: Opt(Obj({ inactiveYears: Opt(Int(0, 20)), revealsPerHour: Opt(Int(10, 500)) })),
  support: Opt(Obj({ access: Opt(OneOf(['write', 'read', 'none'])) })),
})

type Whole = Static<typeof TenantSettings>
type Change = Static<typeof TenantSettingsChange>

const defaults: Whole = { guests: { inactiveYears: 0, revealsPerHour: 60 }, support: { access: 'write' } }

/** Stored settings with the defaults filled in. */
export const wholeSettings = (stored: Change): Whole => ({
  guests: { ...defaults.guests, ...stored.guests },
  support: { ...defaults.support, ...stored.support },
})

export const mergeSettings = (stored: Change, change: Change): Change => ({
  ...stored,
  ...(change.guests ? { guests: { ...stored.guests, ...change.guests } } : {}),
  ...(change.support ? { support: { ...stored.support, ...change.support } } : {}),
})

/** The keys that a change names, with what they were: nothing of settings is personal. */
export const changesOfSettings = (
  before: Whole,
  change: Change,
): { field: string; before: unknown; after: unknown }[] =>
  Object.entries(change).flatMap(([section, values]) =>
    Object.entries(values).map(([key, after]) => ({
      field: `settings.${section}.${key}`,
      before: (before[section as keyof Whole] as Readonly<Record<string, unknown>>)[key],
      after,
    })),
  )
