import { sessionStatuses } from '../../config/cash.ts'
import { sampleId } from '../../config/samples.ts'
import {
  Amount,
  Bool,
  Count,
  Currency,
  Day,
  Instant,
  Int,
  List,
  MapOf,
  Nullable,
  Obj,
  OneOf,
  Opt,
  SignedAmount,
  Text,
  Uuid,
} from '../../config/schema.ts'
import {
  approveSession,
  closeSession,
  listSessions,
  openSession,
  readSession,
  refuseAccountElsewhere,
} from '../../db/cash/index.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { can } from '../lib/access/kinds.ts'
import type { Admission, Caller } from '../lib/caller.ts'
import { asJudged } from '../lib/record.ts'
import { resource } from '../lib/resource.ts'
import { route } from '../lib/route.ts'
import { stamps } from '../properties/schemas.ts'
import { Denominations, Money, path, sightOf } from './schemas.ts'

const Status = OneOf([...sessionStatuses])
const record = {
  id: Uuid,
  registerId: Uuid,
  propertyId: Uuid,
  currency: Currency,
  cashierId: Uuid,
  status: Status,
  businessDate: Day,
  openedAt: Instant,
  closedAt: Nullable(Instant),
  blind: Bool,
  /** The amount counted when the session was opened. */
  opening: Amount,
  /** The amount by which the drawer exceeded its balance at opening; below 0 where it fell short. */
  openingDifference: SignedAmount,
  /** Null while a blind session is open, for those who do not approve sessions. */
  expected: Nullable(Amount),
  counted: Nullable(Amount),
  /** Counted less expected; null until it is counted. */
  difference: Nullable(SignedAmount),
  /** Totals stated by the card terminal and other sources, by method. */
  declared: MapOf(SignedAmount, { max: 10 }),
  closedBy: Nullable(Uuid),
  approvedBy: Nullable(Uuid),
  approvedAt: Nullable(Instant),
  selfApproved: Bool,
  note: Nullable(Text(0, 500)),
  /** Number of the Z report of the register, without gaps. */
  zNumber: Nullable(Int(1, 2_147_483_647)),
  ...stamps,
}
const ListedSession = Obj(record, { title: 'CashSessionListed' })
const CashSession = Obj(
  {
    ...record,
    movementsCount: Count,
    /** By method and kind; null while a blind session is open, for those who do not approve sessions. */
    totals: Nullable(
      List(Obj({ method: Text(1, 30), kind: Text(1, 40), in: Amount, out: Amount, count: Count }), { max: 200 }),
    ),
    /** Counted money that went to the safe as it was closed: a transfer, which `totals` have among what went out. */
    dropped: Amount,
    counts: List(
      Obj({ moment: OneOf(['opening', 'closing']), denominations: Denominations, total: Amount, countedBy: Uuid }),
      { max: 2 },
    ),
  },
  { title: 'CashSession' },
)

type Asking = { admission: Admission; caller: Caller }
const seen = ({ admission, caller }: Asking) => sightOf(admission, caller, 'CashSession', 'read')

const whole = (trx: Trx, id: string) => readSession(trx, id, { mayApprove: true, ownOf: null, reveals: false })

const sessions = resource({
  name: 'cashSessions',
  subject: 'CashSession',
  table: 'cash_session',
  path: `${path}/sessions`,
  param: 'cashSessionId',
  record: CashSession,
  lockedBy: 'command',
  read: whole,
  show: (session, admission) =>
    session.status === 'open' && session.blind && !admission.can('approve', 'CashSession')
      ? { ...session, expected: null, difference: null, totals: null }
      : session,
})

const list = sessions.list({
  summary: 'List register sessions',
  query: {
    registerId: Opt(Uuid),
    cashierId: Opt(Uuid),
    propertyId: Opt(Uuid),
    status: Opt(Status),
    from: Opt(Day),
    to: Opt(Day),
  },
  of: ListedSession,
  example: { status: 'in_review' },
  find: ({ trx, filter, admission, caller }) => listSessions(trx, filter, seen({ admission, caller })),
})

const ofDates = ['period_closed', 'date_locked', 'period_missing', 'business_day_changed'] as const

const open = route({
  id: 'cashSessions.create',
  method: 'POST',
  path: `${path}/sessions`,
  summary: 'Open a register with its counted float',
  description:
    'The caller is the cashier. A drawer that holds more or less than its balance is booked as a difference of this session.',
  access: can('create', 'CashSession'),
  status: 201,
  errors: ['session_open', 'reference_not_found', 'account_archived', 'cash_busy', 'rule_violated', ...ofDates],
  body: Obj({ registerId: Uuid, count: Denominations }),
  example: { registerId: sampleId('closedRegisterId'), count: { '10000': 2 } },
  returns: CashSession,
  handle: async ({ trx, body, admission, caller }) => {
    const id = await openSession(trx, body.registerId, body.count, (session) =>
      admission.check('create', 'CashSession', session),
    )
    return readSession(trx, id, seen({ admission, caller }))
  },
})

const read = route({
  id: 'cashSessions.read',
  method: 'GET',
  path: `${path}/sessions/:cashSessionId`,
  summary: 'Read a session with totals by method',
  description: 'Once it is closed, this is the Z report of the register.',
  access: can('read', 'CashSession'),
  returns: CashSession,
  handle: async ({ trx, params, admission, caller }) => {
    const session = await readSession(trx, params.cashSessionId, seen({ admission, caller }))
    admission.check('read', 'CashSession', asJudged('cash_session', session.id, session))
    return session
  },
})

const close = sessions.act('close', {
  summary: 'Count the drawer blind and close the session',
  description:
    'The difference to what should be there is booked, and waits for another person where it is above the limit of the register. `drop` moves counted money to a safe. `declared` compares other methods, and posts nothing.',
  errors: ['invalid_transition', 'reference_not_found', 'account_archived', 'cash_short', 'cash_busy', ...ofDates],
  body: Obj({
    count: Denominations,
    declared: Opt(MapOf(Money, { max: 10, pattern: '^(card|pix|bank_transfer|terminal|cheque|other)$' })),
    drop: Opt(Obj({ amount: Money, toAccountId: Opt(Uuid) })),
    note: Opt(Text(0, 500)),
  }),
  example: { count: { '10000': 2 } },
  command: async ({ trx, id, body, admission, expectedVersion: expected }) => {
    await refuseAccountElsewhere(trx, body.drop?.toAccountId, admission.propertyIds, 'drop.toAccountId')
    return closeSession(trx, id, body, { mayApprove: admission.can('approve', 'CashSession'), expected })
  },
})

const approve = sessions.act('approve', {
  summary: 'Accept a difference above the limit of the register',
  errors: ['self_approval', 'key_not_allowed', 'invalid_transition', 'cash_busy'],
  body: Obj({ note: Opt(Text(0, 500)) }),
  example: { note: 'Counted again with the cashier' },
  command: ({ trx, id, body, expectedVersion: expected }) => approveSession(trx, id, { note: body.note, expected }),
})

export const routes = [list, open, read, close, approve]
