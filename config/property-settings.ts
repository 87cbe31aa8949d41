import {
  Bool,
  Day,
  Int,
  List,
  LocalText,
  MapOf,
  Matching,
  Nullable,
  Obj,
  OneOf,
  Sparse,
  TimeOfDay,
  Words,
} from './schema.ts'
import type { Static } from './schema.ts'
import { taskKinds } from './housekeeping.ts'
import { openings } from './issue-causes.ts'
import { authorities } from './registration.ts'

export const guestFields = [
  'firstName',
  'lastName',
  'email',
  'phone',
  'countryCode',
  'document',
  'arrivalTime',
] as const
const secureAddress = Matching('^https://[^\\s]{1,1990}$', 2000)

/** One document per property. Only keys that were set are stored; all others have the defaults below. */
export const PropertySettings = Obj({
  portal: Obj({
    enabled: Bool,
    maxRooms: Int(1, 9),
    maxNights: Int(1, 90),
    minAdvanceMinutes: Int(0, 10_080),
    maxAdvanceDays: Int(1, 730),
    requiredGuestFields: List(OneOf([...guestFields]), { max: 7 }, { uniqueItems: true }),
    theme: Obj({ primaryColour: Nullable(Matching('^#[0-9a-f]{6}$', 7)), logoUrl: Nullable(secureAddress) }),
    terms: LocalText,
    privacyUrl: Nullable(secureAddress),
    /** The hosts to which a payer may be sent back. */
    returnHosts: List(Matching('^[a-z0-9.-]{1,253}$', 253), { max: 20 }),
    /** Basis points of a pool's night that unpaid portal holds may take. */
    holdShare: Int(500, 10_000),
  }),
  holds: Obj({ checkoutMinutes: Int(5, 30), paymentMaxHours: Int(24, 120), optionMaxDays: Int(1, 90) }),
  assignment: Obj({ automatic: Bool }),
  housekeeping: Obj({
    inspection: Bool,
    stayover: OneOf(['daily', 'every_2_days', 'every_3_days', 'on_request']),
    deepEveryDays: Int(0, 365),
    /** By the kind of task. */
    checklists: MapOf(List(Obj({ key: Matching('^[a-z0-9_]{1,40}$', 40), text: Words(1, 200) }), { max: 50 }), {
      max: 20,
      pattern: `^(${taskKinds.join('|')})$`,
    }),
  }),
  nightAudit: Obj({ automatic: Bool, at: Matching('^(0[0-9]|1[01]):[0-5][0-9]$', 5) }),
  taxes: Obj({ none: Bool }),
  quotes: Obj({ hours: Int(1, 336) }),
  frontDesk: Obj({
    noShowFrom: TimeOfDay,
    conditions: List(OneOf(['dirty', 'cleaning', 'clean', 'inspected', 'pickup']), { max: 5, min: 1 }),
  }),
  /** Minor units per line that a receptionist may take off. */
  folios: Obj({ adjustmentLimit: Int(0, 100_000_000) }),
  deposits: Obj({ collectAutomatically: Bool }),
  registration: Obj({
    /** Forms of guests: none; one that is missing is told at check-in; or keeps the guest from checking in. */
    mode: OneOf(['off', 'warn', 'strict']),
    /** The authority that takes forms; `open` speaks the contract of docs/integrators/registration.md. */
    authority: OneOf([...authorities]),
    endpointUrl: Nullable(secureAddress),
    /** Days before the arrival on which a guest is sent the link by itself; 0 = never. */
    linkDaysBefore: Int(0, 30),
    /** After the last departure, also of guests who were erased. */
    retentionYears: Int(1, 20),
  }),
  /** Days after the departure; 0 = gone once the document is verified. */
  documents: Obj({ keepImagesDays: Int(0, 365) }),
  issues: Obj({
    /** After its resolution. */
    closeAfterDays: Int(1, 30),
    reopenDays: Int(1, 60),
    keepLostDays: Int(30, 365),
    /** After closing. */
    keepTextMonths: Int(6, 120),
    /** Hours in which clocks by business hours run, by the clock of the house: on days of the week (1 is Monday), until midnight where `until` is 00:00. */
    businessHours: List(
      Obj({ days: List(Int(1, 7), { min: 1, max: 7 }, { uniqueItems: true }), from: TimeOfDay, until: TimeOfDay }),
      { min: 1, max: 21 },
    ),
    /** Days on which they do not run. */
    holidays: List(Day, { max: 400 }, { uniqueItems: true }),
    /** Types of events that open no issue. */
    automaticOff: List(OneOf([...openings]), { max: 50 }, { uniqueItems: true }),
  }),
  messages: Obj({
    /** Local time; a message that can wait does not come in between. */
    quietFrom: TimeOfDay,
    quietUntil: TimeOfDay,
    /** The plan of a message that names none. */
    order: List(OneOf(['whatsapp', 'sms', 'email']), { min: 1, max: 3 }, { uniqueItems: true }),
    perGuestDaily: Int(1, 20),
    marketingPer30Days: Int(1, 15),
    keepContentDays: Int(30, 730),
  }),
})
export type PropertySettings = Static<typeof PropertySettings>

const { properties: inside } = PropertySettings
/** A change: sections with any of their keys. A key that is sent replaces the stored value whole. */
export const PropertySettingsChange = Sparse(
  Obj({
    portal: Sparse(inside.portal),
    holds: Sparse(inside.holds),
    assignment: Sparse(inside.assignment),
    housekeeping: Sparse(inside.housekeeping),
    nightAudit: Sparse(inside.nightAudit),
    taxes: Sparse(inside.taxes),
    quotes: Sparse(inside.quotes),
    frontDesk: Sparse(inside.frontDesk),
    folios: Sparse(inside.folios),
    deposits: Sparse(inside.deposits),
    /** `credentials` is kept sealed, and never shown; null takes them away. */
    registration: Sparse(Obj({ ...inside.registration.properties, credentials: Nullable(Words(16, 200)) })),
    documents: Sparse(inside.documents),
    issues: Sparse(inside.issues),
    messages: Sparse(inside.messages),
  }),
)

const defaults: PropertySettings = {
  portal: {
    enabled: false,
    maxRooms: 4,
    maxNights: 30,
    minAdvanceMinutes: 0,
    maxAdvanceDays: 365,
    requiredGuestFields: ['firstName', 'lastName', 'email', 'phone'],
    theme: { primaryColour: null, logoUrl: null },
    terms: {},
    privacyUrl: null,
    returnHosts: [],
    holdShare: 3000,
  },
  holds: { checkoutMinutes: 10, paymentMaxHours: 72, optionMaxDays: 14 },
  assignment: { automatic: true },
  housekeeping: { inspection: false, stayover: 'daily', deepEveryDays: 0, checklists: {} },
  nightAudit: { automatic: true, at: '03:00' },
  taxes: { none: false },
  quotes: { hours: 24 },
  frontDesk: { noShowFrom: '23:00', conditions: ['inspected', 'clean'] },
  folios: { adjustmentLimit: 10_000 },
  deposits: { collectAutomatically: true },
  registration: { mode: 'warn', authority: 'none', endpointUrl: null, linkDaysBefore: 3, retentionYears: 5 },
  documents: { keepImagesDays: 30 },
  issues: {
    closeAfterDays: 7,
    reopenDays: 14,
    keepLostDays: 90,
    keepTextMonths: 24,
    businessHours: [{ days: [1, 2, 3, 4, 5], from: '09:00', until: '18:00' }],
    holidays: [],
    automaticOff: [],
  },
  messages: {
    quietFrom: '21:00',
    quietUntil: '08:00',
    order: ['whatsapp', 'sms', 'email'],
    perGuestDaily: 5,
    marketingPer30Days: 4,
    keepContentDays: 180,
  },
}

/** Sections of settings with any of their keys: what is stored, and what a change may name. */
export type StoredSettings = { [Section in keyof PropertySettings]?: Partial<PropertySettings[Section]> }
export type SettingsChange = Static<typeof PropertySettingsChange>
const sections = Object.keys(defaults) as (keyof PropertySettings)[]

/** The settings of a property with every key. */
export const settingsOf = (stored: StoredSettings): PropertySettings =>
  Object.fromEntries(
    sections.map((section) => [section, { ...defaults[section], ...stored[section] }]),
  ) as PropertySettings

/** Minutes from the beginning of the day; `midnight` says what 00:00 is. */
const minuteOf = (time: string, midnight = 0): number =>
  time === '00:00' ? midnight : Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5))

type OpenHours = PropertySettings['issues']['businessHours'][number]
const fewestMinutes = 300

/** The fault of business hours: one that ends before it begins, two that overlap on a day, or less than five hours a week. Null where there is none. */
export const faultOfHours = (hours: readonly OpenHours[]): { field: string; message: string } | null => {
  let weekly = 0
  for (const [index, one] of hours.entries()) {
    const field = `issues.businessHours.${index}`
    const [from, until] = [minuteOf(one.from), minuteOf(one.until, 1_440)]
    if (until <= from) return { field: `${field}.until`, message: 'must be after its beginning' }
    weekly += one.days.length * (until - from)
    const other = hours
      .slice(0, index)
      .findIndex(
        (two) =>
          two.days.some((day) => one.days.includes(day)) &&
          minuteOf(two.from) < until &&
          from < minuteOf(two.until, 1_440),
      )
    if (other >= 0) return { field, message: `overlaps entry ${other} on a day` }
  }
  return weekly < fewestMinutes
    ? { field: 'issues.businessHours', message: 'must come to at least 5 hours a week' }
    : null
}

/** Positions of the items of a checklist whose key an item before them has: what was done is told by keys. */
export const repeatedKeys = (items: readonly { key: string }[]): number[] => {
  const keys = items.map((item) => item.key)
  return keys.flatMap((key, index) => (keys.indexOf(key) === index ? [] : [index]))
}
