import { meaningOfNumber } from './openapi-amounts.ts'
import { meaningOfWord } from './openapi-words.ts'

/**
 * Meanings of fields, by their name, or by schema and name where one schema means something else. The document tells them where a schema does not
 * describe its field itself. Names that speak for themselves (`firstName`, `createdAt`) are left out.
 */
const meanings: Readonly<Record<string, string>> = {
  amount: 'Minor units of the currency',
  unitAmount: 'Minor units of the currency, for one',
  total: 'Minor units of the currency, taxes included; in the meta of a list, how many records there are',
  roomTotal: 'Minor units: the prices of all nights, without taxes on top',
  extrasTotal: 'Minor units: the extras, without taxes on top',
  taxTotal: 'Minor units: taxes and fees on top of the prices',
  postedTotal: 'Minor units: the part of the total that stands on folios already',
  feeAmount: 'Minor units: the fee for a cancellation or no-show; null where there is none',
  fee: 'Minor units',
  refund: 'Minor units that go back to the guest',
  balance: 'Minor units, charges less credits. Above 0 the guest owes the house; below 0 the house owes the guest',
  projected: 'Minor units: the balance as it will be once all that is booked is charged',
  charges: 'Minor units: the sum of charges and fees',
  credits: 'Minor units: the sum of payments and other credits',
  credit: 'Minor units. Of a booking: money that is not yet on a folio. Of a ledger line: the credit side',
  debit: 'Minor units: the debit side of the line; 0 on a credit line',
  difference: 'Minor units: debits less credits, or what was found less what was expected',
  dueNow: 'Minor units that must be paid before the booking is confirmed',
  depositDue: 'Minor units of deposits that are due and not paid',
  creditLimit: 'Minor units up to which charges may stand on the folio unpaid; null is without limit',
  paid: 'Minor units that were paid, less what went back',
  gross: 'Minor units, before fees',
  net: 'Minor units, after fees',
  platformFee: 'Minor units that the platform keeps',
  capturedAmount: 'Minor units that the gateway has taken',
  refundedAmount: 'Minor units that have gone back',
  rate: 'Basis points: 10000 is 100 %',
  commissionRate: 'Basis points: 10000 is 100 %',
  included: 'Whether the tax is part of the price, rather than added to it',
  taxes: 'Taxes and fees, each by its rule',
  taxBase: 'Minor units that the tax is computed from',
  nights: 'The nights of the stay in their order; the day of departure is none',
  extras: 'Services beside the room',
  rooms: 'One entry for each room; in a request for a group or a waitlist, how many',
  businessDate: 'The business day of the property: the one before until its night audit has closed it',
  checkInBusinessDate: 'The business day of the check-in',
  checkOutBusinessDate: 'The business day of the check-out',
  postingDate: 'The day in the ledger',
  side: 'The side on which the account grows',
  postable: 'Whether entries may name the account; a group of accounts takes none',
  control: 'The kind of document that alone posts to the account; null where people may',
  sequence: 'Counts up within its list, without gaps',
  source: 'Where it came from',
  basis: 'What the amount or rate is counted by',
  position: 'Place in the order, from the first on',
  hash: 'SHA-256 of the content, in hexadecimal',
  sha256: 'SHA-256 of the content, in hexadecimal',
  bytes: 'Size of the content in bytes',
  attempts: 'How often it was tried',
  lagSeconds: 'Seconds between the fact and now',
  flags: 'What the desk should look at',
  tags: 'Words of the house for its guests, in lower case',
  overdue: 'Whether its day is past',
  late: 'Whether it came after its time',
  overbooked: 'Whether the stay was sold beyond the rooms that there are',
  channelManaged: 'Whether a sales channel decides about the stay',
  guarantee: 'What stands behind the booking if the guest does not come',
  marketSegment: 'The kind of business that the stay counts as',
  stage: '`deposit` before the arrival, `guest` from the check-in on',
  isPrimary: 'Whether charges go there that no route sends elsewhere',
  locked: 'Whether it takes nights, fees and taxes alone',
  unposted: 'Minor units that the ledger has not been told of yet',
  routing: 'Which folio takes which charges of the stay',
  guests: 'The people of the stay, the main one first',
  assignments: 'The units that the stay has, had or will have',
  deposits: 'Installments of the deposit, with what was paid of each',
  policies: 'The terms as they were when the stay was booked',
  hold: 'The hold of the rooms; null once they are confirmed or given back',
  holdExpiresAt: 'When the rooms go back to sale unless the booking is confirmed',
  capacity: 'Rooms that can be sold: the units less those that are out of order',
  sold: 'Rooms that are sold',
  held: 'Rooms that are held for a booking that is not confirmed',
  allotted: 'Rooms that are kept for groups',
  blocked: 'Rooms that are out of order',
  free: 'Rooms that are left to sell',
  left: 'Rooms that are left to sell, at most 5 to strangers',
  oversell: 'Rooms that may be sold beyond the capacity',
  forced: 'Rooms that were sold beyond what was free, by an override',
  stopSell: 'Whether nothing is sold on the day',
  closedToArrival: 'Whether no stay may begin on the day',
  closedToDeparture: 'Whether no stay may end on the day',
  minNights: 'The fewest nights of a stay',
  maxNights: 'The most nights of a stay',
  minStayArrival: 'The fewest nights of a stay that begins on the day',
  maxStayArrival: 'The most nights of a stay that begins on the day',
  minStayThrough: 'The fewest nights of a stay that sleeps on the day',
  maxStayThrough: 'The most nights of a stay that sleeps on the day',
  minAdvanceDays: 'The fewest days from the booking to the arrival',
  maxAdvanceDays: 'The most days from the booking to the arrival',
  minAdvanceMinutes: 'The fewest minutes from the booking to the arrival',
  freeUntil: 'Until when the stay is cancelled without a fee; null where there is none or it is past',
  condition: 'How clean the unit is',
  ready: 'Whether a guest can be given the key',
  occupancy: 'Whether somebody lives in the unit',
  before: 'The value before the change',
  after: 'The value after the change',
  countryCode: 'ISO 3166-1 alpha-2',
  nationality: 'ISO 3166-1 alpha-2',
  sourceSeq: 'The order in which the facts came about',
  dryRun: 'Whether nothing was stored',
  skippedCount: 'Records that were left alone, since they had changed meanwhile',
  isDefault: 'Whether it is taken where none is named',
  mandatory: 'Whether every stay has it',
  masked: 'The value with most of its characters hidden',
  selfApproved: 'Whether its author has approved it',
  lockedUntil: 'Nothing is posted up to this day',
  error: 'Why it failed; null where it did not',
  lastError: 'Why the last try failed; null where none did',
  failure: 'Why it failed; null where it did not',
  done: 'How many are done',
  expiresAt: 'From this instant on it is worth nothing',
  version: 'Counts the changes of the record; send it in If-Match',
  'OverviewRow.currency': 'The currency of the amounts, which is that of the whole reply',
  propertyCurrency: 'The currency of the property itself, from which amounts are converted',
  'PageMeta.total': 'How many records fit the filters; counted up to a bound',
  'Quote.quote': 'The frozen price, signed; send it to hold the rooms',
  'Quote.holdMinutes': 'How long a hold of the quote lasts',
  'Quote.schedule': 'What is to be paid when, in minor units',
  'Offer.nights': 'The price of each night, without taxes on top',
  'Payment.installments': 'In how many parts the card is charged',
  'Supplier.bankDetails': 'Those to which money goes now; null while there are none, and while the first ones wait',
  'Supplier.pendingBankDetails': 'Those that wait for a decision',
  'Supplier.waitingBankDetails':
    'Those approved last while they wait: from `usableFrom` on they take the place of those in use',
}

/** The meaning of a field where the schema `title` does not tell it itself; undefined where its name says enough. */
const meaningOf = (title: unknown, field: string): string | undefined =>
  (typeof title === 'string' ? meanings[`${title}.${field}`] : undefined) ?? meanings[field]

type Json = Record<string, unknown>

/** Tells whether values of a schema are numbers, or null. */
const isNumeric = ({ type, anyOf }: Json): boolean =>
  type === 'integer' || type === 'number' || (Array.isArray(anyOf) && anyOf.some((one: Json) => isNumeric(one)))

/** Describes the properties of an object schema that have a meaning here and no description of their own. */
export const describeFields = (schema: Json): Json => {
  const { properties, title } = schema
  if (typeof properties !== 'object' || properties === null) return schema
  const described = Object.entries(properties as Record<string, Json>).map(([field, value]) => {
    const description =
      meaningOf(title, field) ?? (isNumeric(value) ? meaningOfNumber : meaningOfWord)(title, field, value)
    const isOpen = description !== undefined && !('description' in value) && !('$ref' in value)
    return [field, isOpen ? { ...value, description } : value]
  })
  return { ...schema, properties: Object.fromEntries(described) as Json }
}
