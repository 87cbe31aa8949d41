import fc from 'fast-check'
import { randomUUID } from 'node:crypto'
import { routes } from '../../api/routes.ts'
import { makeTenant, makeUser, newEmail, password } from '../auth/support.ts'
import type { House } from '../support/factories.ts'
import { numbered, placed, recordsOf } from '../support/samples.ts'
import { makeMoney } from '../support/money.ts'
import { makeStore } from '../support/stock.ts'
import { makeHold, portalOf, readBooking } from '../support/stay.ts'
import type { World } from '../support/world.ts'
import { ofAccounts } from './examples-of-accounts.ts'
import { ofFolios } from './examples-of-folios.ts'
import { ofGuests } from './examples-of-guests.ts'
import { ofHousekeeping } from './examples-of-housekeeping.ts'
import { ofCash } from './examples-of-cash.ts'
import { ofChannels } from './examples-of-channels.ts'
import { ofMessages } from './examples-of-messages.ts'
import { ofMembers } from './examples-of-members.ts'
import { ofProperties } from './examples-of-properties.ts'
import { ofOperators } from './examples-of-operators.ts'
import { ofBlocks } from './examples-of-blocks.ts'
import { ofInventory } from './examples-of-inventory.ts'
import { ofFiscal } from './examples-of-fiscal.ts'
import { makeFiscal } from '../support/fiscal.ts'
import { ofPayables } from './examples-of-payables.ts'
import { ofReceivables } from './examples-of-receivables.ts'
import { makePayables } from '../support/payables.ts'
import { ofReceipts } from './examples-of-receipts.ts'
import { makeReceipts } from '../support/receipts.ts'
import { makeReceivables } from '../support/receivables.ts'
import { ofIssues } from './examples-of-issues.ts'
import { ofLedger } from './examples-of-ledger.ts'
import { ofReports } from './examples-of-reports.ts'
import { ofDesk } from './examples-of-desk.ts'
import { ofPayments } from './examples-of-payments.ts'
import { ofUnits } from './examples-of-units.ts'
import { ofBilling } from './examples-of-billing.ts'
import { ofWebhooks } from './examples-of-webhooks.ts'
import type { Known } from './inputs.ts'

/** Routes whose example holds the demo's password. A wrong one counts as a failed sign-in and would lock the user of the tests out. */
const ofDemoAlone = new Set(['auth.changePassword'])

/**
 * Records that are there, by the names of fields (of a path also by endpoint and name): `known` for all modules, `ofModule` for one. `examples`
 * hold requests that work, by endpoint: those of the route values, and more where a schema alone seldom hits upon one.
 */
export const prepare = async (
  world: World,
  house: House,
  { key, payer }: { key: string; payer: string },
): Promise<{ known: Known; ofModule: Record<string, Known>; examples: Record<string, unknown[]> }> => {
  const other = await makeTenant()
  const reader = await makeUser({ [house.tenantId]: 'manager' })
  const accounts = await ofAccounts(house)
  const members = await ofMembers(house)
  const properties = await ofProperties(house)
  const channels = await ofChannels(house)
  const webhooks = await ofWebhooks(house)
  const messages = await ofMessages(house)
  const billing = await ofBilling(house)
  const units = await ofUnits(house)
  const blocks = await ofBlocks(house)
  const housekeeping = await ofHousekeeping(house)
  const desk = await ofDesk(house)
  const ledger = await ofLedger(house)
  const reports = await ofReports(house)
  const folios = await ofFolios(house)
  const store = await makeStore(house)
  const inventory = await ofInventory(house, store)
  const money = await makeMoney(house)
  const cash = await ofCash(house, money)
  const issues = await ofIssues(house)
  const owed = await makePayables(house)
  const payables = await ofPayables(house, owed)
  const taxed = await makeFiscal(house)
  const fiscal = await ofFiscal(house, taxed)
  const received = await makeReceipts(house)
  const receipts = await ofReceipts(house, received)
  const billed = await makeReceivables(house)
  const receivables = await ofReceivables(house, billed)
  const guests = await ofGuests(house)
  const operators = await ofOperators(world)
  const payments = await ofPayments(house)
  const portal = portalOf(world.request, house, key)
  const { body: quoted } = await portal.quote({ from: 20 })
  const bookingId = await makeHold(house, { from: 25 })
  const { number, rooms } = await readBooking(house, bookingId)
  const one = (...values: unknown[]) => fc.constantFrom(...values)
  const known: Known = {
    tenantId: one(house.tenantId),
    id: one(other),
    provider: one('sandbox'),
    key: one('pos', 'webhooks', 'nothing_of_the_kind'),
    reason: one('a trial for the season', '  padded  '),
    propertyId: one(house.propertyId),
    unitTypeId: one(house.unitTypeId, house.suiteTypeId),
    ratePlanId: one(house.ratePlanId, house.saverPlanId),
    bookId: one(house.bookId),
    bookingId: one(bookingId),
    reservationIds: one(
      rooms.map((room) => room.id),
      [randomUUID()],
    ),
    quote: one(quoted.quote),
    acceptedTerms: one(house.termsVersion),
    email: fc.oneof(
      one(reader.email, newEmail('nobody')),
      fc.nat(10_000).map((n) => `fuzz${n}@example.com`),
    ),
    password: one(password),
    number: one(number, `${number.slice(0, 4)}-${number.slice(4)}`, '52998224725'),
    firstName: one('Ana', 'José', '👩‍🚀', 'مريم', "O'Neil"),
    lastName: one('Souza', 'Ñandú', '王'),
    arrival: one(house.day(20), house.day(0), house.day(700)),
    departure: one(house.day(22), house.day(21)),
    from: one(house.day(1), house.day(30)),
    to: one(house.day(30), house.day(120)),
    asOf: one(house.day(0)),
    adults: one(1, 2),
    childrenAges: one([], [5], [0, 17]),
    extras: one([], [], [{ extraId: randomUUID(), quantity: 1 }]),
    sort: one('-createdAt', 'createdAt', 'number,-arrival', 'name', '-', ','),
    promoCode: one('NOTHING'),
    children: one('5', '0,17'),
    returnUrl: one('https://portal.example/back', 'https://evil.example/back'),
    q: one('souza', number, 'ana@example.com', '%%%', '5299'),
    // A reader that waits is another test's business.
    waitSeconds: one(0),
  }
  const { body: paid } = await world.request('POST', '/api/public/payments/create', {
    guest: payer,
    body: { method: 'pix' },
  })
  known.paymentId = one(paid.paymentId)
  const room = { unitTypeId: house.unitTypeId, ratePlanId: house.ratePlanId, adults: 2, childrenAges: [], extras: [] }
  const stay = { propertyId: house.propertyId, arrival: house.day(20), departure: house.day(22), rooms: [room] }
  const booker = { firstName: 'Ana', lastName: 'Souza', phone: '+5524999990000' }
  const quotes = await Promise.all([21, 22, 23, 24].map((from) => portal.quote({ from })))
  const event = {
    id: 'evt_1',
    type: 'charge.captured',
    account: 'sbx_1',
    object: 'charge',
    ref: 'ch_1',
    ourId: randomUUID(),
  }
  const examples: Record<string, unknown[]> = {
    ...properties.examples,
    ...channels.examples,
    ...webhooks.examples,
    ...messages.examples,
    ...billing.examples,
    ...units.examples,
    ...housekeeping.examples,
    ...blocks.examples,
    ...desk.examples,
    ...ledger.examples,
    ...reports.examples,
    ...guests.examples,
    'auth.signIn': [{ email: reader.email, password }],
    'auth.reauthenticate': [{ password }],
    'auth.tenantContext': [{ tenantId: house.tenantId }],
    'public.quotes.create': [stay],
    'public.reservations.hold': quotes.map(({ body }, index) => ({
      quote: (body as { quote: string }).quote,
      booker: { ...booker, email: `example${index}@example.com` },
      acceptedTerms: house.termsVersion,
    })),
    'public.createPayment': [{ method: 'pix' }, { method: 'card', cardToken: 'tok_approved' }],
    'public.property.availability': [
      { arrival: house.day(20), departure: house.day(22) },
      { from: house.day(1), to: house.day(30) },
    ],
    'public.paymentStatus': [{}, { since: 'paid' }],
    'payments.callback': [event],
    'reservations.list': [{}, { q: number }, { status: 'held', sort: '-arrival' }],
    'ledgerEntries.list': [{}, { from: house.day(0) }],
    'jobs.list': [{}, { status: 'pending', from: '2026-11-20T12:00:00Z' }],
    ...folios.examples,
    ...inventory.examples,
    ...cash.examples,
    ...issues.examples,
    ...payables.examples,
    ...fiscal.examples,
    ...receipts.examples,
    ...receivables.examples,
    ...payments.examples,
    ...operators.examples,
    ...accounts.examples,
    ...members.examples,
    'entitlements.grant': [{ key: 'pos', reason: 'a trial' }],
    'entitlements.revoke': [{ reason: 'the trial is over' }],
  }
  const records = {
    ...receivables.records,
    ...(await recordsOf(house, store, owed, money, taxed, received, billed)),
    ...payables.records,
    ...fiscal.records,
    ...receipts.records,
    ...folios.records,
    ...guests.records,
    ...inventory.records,
    ...cash.records,
    ...issues.records,
    ...desk.records,
    entryDraftId: ledger.records['entryDraftId'] ?? '',
    userId: reader.userId,
    priceId: billing.priceId,
    reservationId: rooms[0]?.id ?? '',
    otherReservationId: randomUUID(),
    channelConnectionId: channels.channelConnectionId,
    jobId: operators.jobId,
  }
  for (const { id, example, status } of routes) {
    if (example === undefined || ofDemoAlone.has(id)) continue
    const several = Array.from({ length: status === 201 ? 20 : 1 }, (_, index) =>
      placed(status === 201 ? numbered(example, index + 1) : example, records, house),
    )
    examples[id] = [...several, ...(examples[id] ?? [])]
  }
  return {
    known,
    ofModule: {
      admin: { ...billing.known, ...operators.known, ...members.known },
      auth: { ...accounts.known, ...members.known },
      financial: ledger.known,
      guests: guests.known,
      inventory: inventory.known,
      cash: cash.known,
      issues: issues.known,
      'accounts-payable': payables.known,
      'accounts-receivable': {
        ...receipts.known,
        ...fiscal.known,
        ...receivables.known,
        'fiscalDocuments.create receivableId': fiscal.known['receivableId']!,
        'creditNotes.create receivableId': receipts.known['receivableId']!,
      },
      payment: payments.known,
      reports: reports.known,
      properties: { ...properties.known, ...channels.known },
      public: guests.ofPublic,
      reservations: {
        ...desk.known,
        ...folios.known,
        'folios.invoice folioId': receivables.known['folios.invoice folioId']!,
      },
      ocp: messages.known,
      webhooks: webhooks.known,
      units: { ...units.known, ...housekeeping.known, ...blocks.known },
    },
    examples,
  }
}
