import { sampleId } from '../../config/samples.ts'
import { Bool, Day, List, Obj, Opt, SignedAmount, Text, Uuid, Words } from '../../config/schema.ts'
import { createMovement, listMovements, readMovement, reverseManual } from '../../db/cash/index.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { can } from '../lib/access/kinds.ts'
import type { Admission, Caller } from '../lib/caller.ts'
import { Reason, trimmed } from '../lib/reason.ts'
import { asJudged } from '../lib/record.ts'
import { resource } from '../lib/resource.ts'
import { route } from '../lib/route.ts'
import { Description, Document, Movement, MovementKind, path, PixReturns, sightOf, SignedMoney } from './schemas.ts'

const CashMovement = Obj(
  {
    ...Movement,
    /** Lines of the bank that it is matched with. */
    matches: List(Obj({ statementLineId: Uuid, bankStatementId: Uuid, amount: SignedAmount, made: Bool }), {
      max: 100,
    }),
    /** Of a received Pix: what of it goes or went back. */
    pixReturns: PixReturns,
  },
  { title: 'CashMovement' },
)
const ListedMovement = Obj({ ...Movement, balanceAfter: Opt(SignedAmount) }, { title: 'CashMovementListed' })

type Asking = { admission: Admission; caller: Caller }
const seen = ({ admission, caller }: Asking, action = 'read') => sightOf(admission, caller, 'CashMovement', action)

const whole = (trx: Trx, id: string) => readMovement(trx, id, { mayApprove: false, ownOf: null, reveals: false })

const movements = resource({
  name: 'cashMovements',
  subject: 'CashMovement',
  table: 'cash_movement',
  path: `${path}/movements`,
  param: 'cashMovementId',
  record: CashMovement,
  read: whole,
})

const list = movements.list({
  summary: 'List movements by account, session, date, kind or match state',
  description:
    'Latest first. Movements of one account, filtered by nothing but dates, carry `balanceAfter`, what the account held after each; not while a blind session of it is open, for those who do not approve sessions. `q` is a part of the description, or the voucher.',
  query: {
    cashAccountId: Opt(Uuid),
    sessionId: Opt(Uuid),
    kind: Opt(MovementKind),
    from: Opt(Day),
    to: Opt(Day),
    unmatched: Opt(Bool),
    amount: Opt(SignedMoney),
    endToEndId: Opt(Text(1, 60)),
    sourceId: Opt(Uuid),
    q: Opt(Text(1, 100)),
  },
  of: ListedMovement,
  example: { cashAccountId: sampleId('cashAccountId') },
  find: ({ trx, filter, admission, caller }) => listMovements(trx, filter, seen({ admission, caller })),
})

const bookingErrors = [
  'reference_not_found',
  'account_archived',
  'session_required',
  'session_closed',
  'cash_short',
  'cash_busy',
  'date_out_of_range',
  'period_closed',
  'date_locked',
  'period_missing',
  'business_day_changed',
] as const

const create = route({
  id: 'cashMovements.create',
  method: 'POST',
  path: `${path}/movements`,
  summary: 'Record miscellaneous money in or out',
  description:
    'On a register the open session and the business day are found; `bookedOn` is not sent. Money of another book of the tenant names `counterBookId` in place of `accountId`.',
  access: can('create', 'CashMovement'),
  status: 201,
  idempotency: 'required',
  errors: [...bookingErrors, 'account_not_usable'],
  body: Obj({
    cashAccountId: Uuid,
    amount: SignedMoney,
    bookedOn: Opt(Day),
    accountId: Opt(Uuid),
    counterBookId: Opt(Uuid),
    costCenterId: Opt(Uuid),
    propertyId: Opt(Uuid),
    description: Description,
    voucher: Opt(Text(0, 60)),
    counterpartyName: Opt(Words(1, 200)),
    counterpartyDocument: Opt(Document),
  }),
  example: {
    cashAccountId: sampleId('cashAccountId'),
    amount: -1_000,
    accountId: sampleId('expenseAccountId'),
    description: 'Flowers for the lobby',
  },
  returns: CashMovement,
  handle: async ({ trx, body, admission, caller }) => {
    const id = await createMovement(trx, body, {
      sight: seen({ admission, caller }, 'create'),
      scope: admission.scope('create', 'CashMovement'),
      judge: (record) => admission.check('create', 'CashMovement', record),
    })
    return readMovement(trx, id, { ...seen({ admission, caller }), ownOf: null })
  },
})

const read = route({
  id: 'cashMovements.read',
  method: 'GET',
  path: `${path}/movements/:cashMovementId`,
  summary: 'Read a movement with its source, matches and Pix returns',
  access: can('read', 'CashMovement'),
  returns: CashMovement,
  handle: async ({ trx, params, admission, caller }) => {
    const movement = await readMovement(trx, params.cashMovementId, seen({ admission, caller }))
    admission.check('read', 'CashMovement', asJudged('cash_movement', movement.id, movement))
    return movement
  },
})

const reverse = route({
  id: 'cashMovements.reverse',
  method: 'POST',
  path: `${path}/movements/:cashMovementId/reverse`,
  summary: 'Reverse a miscellaneous movement',
  description:
    'Answers the movement that turns it, booked today; on a register in the session of the movement, while that is open.',
  access: can('reverse', 'CashMovement'),
  errors: [...bookingErrors, 'invalid_transition', 'already_reversed', 'in_use', 'movement_reconciled'],
  body: Obj({ reason: Reason }),
  example: { reason: 'Booked on the wrong account' },
  returns: CashMovement,
  handle: async ({ trx, params, body, admission, caller }) => {
    const movement = await readMovement(trx, params.cashMovementId, seen({ admission, caller }))
    admission.check('reverse', 'CashMovement', asJudged('cash_movement', movement.id, movement))
    const id = await reverseManual(trx, movement.id, trimmed(body.reason))
    return readMovement(trx, id, seen({ admission, caller }))
  },
})

export const routes = [list, create, read, reverse]
