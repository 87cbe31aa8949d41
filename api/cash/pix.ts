import { pixChargeKinds, pixChargeStatuses, pixTargetTypes } from '../../config/pix.ts'
import { sampleId } from '../../config/samples.ts'
import {
  Amount,
  Count,
  Currency,
  Day,
  Instant,
  Int,
  List,
  Matching,
  Nullable,
  Obj,
  OneOf,
  Opt,
  Text,
  Uuid,
  Words,
} from '../../config/schema.ts'
import { cancelCharge, createCharge, listCharges, readCharge } from '../../db/cash/index.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { Attempts } from '../lib/attempts.ts'
import { can } from '../lib/access/kinds.ts'
import { asJudged } from '../lib/record.ts'
import { resource } from '../lib/resource.ts'
import { Reply, route } from '../lib/route.ts'
import { waitable } from '../lib/waitable.ts'
import { stamps } from '../properties/schemas.ts'
import { Document, Money, path, PixReturns } from './schemas.ts'

const Kind = OneOf([...pixChargeKinds])
const Status = OneOf([...pixChargeStatuses])
const TargetType = OneOf([...pixTargetTypes])
const Rate = Int(0, 1000)
const Txid = Matching('^[A-Za-z0-9]{1,35}$', 35, { cardNumber: 'exempt' })
const Discounts = List(Obj({ until: Day, amount: Money }), { max: 3 })

const record = {
  id: Uuid,
  cashAccountId: Uuid,
  bookId: Uuid,
  propertyId: Nullable(Uuid),
  pixKeyId: Nullable(Uuid),
  kind: Kind,
  /** Null where the payer types it. */
  amount: Nullable(Amount),
  currency: Currency,
  txid: Text(1, 35, { cardNumber: 'exempt' }),
  targetType: Nullable(TargetType),
  targetId: Nullable(Uuid),
  installmentId: Nullable(Uuid),
  /** The document is masked without the permission to reveal. */
  payer: Nullable(Obj({ name: Text(0, 120), document: Text(0, 30, { cardNumber: 'exempt' }) })),
  dueOn: Nullable(Day),
  daysAfterDue: Nullable(Int(0, 365)),
  fineRate: Rate,
  monthlyInterestRate: Rate,
  discounts: Discounts,
  expiresAt: Nullable(Instant),
  text: Text(0, 140),
  /** The code that the payer scans or pastes; null until the bank has made the charge. */
  brCode: Nullable(Text(0, 600, { cardNumber: 'exempt' })),
  paid: Amount,
  receivedCount: Count,
  status: Status,
  failure: Nullable(Obj({ code: Text(1, 60), message: Text(0, 300) })),
  ...stamps,
}
const ListedCharge = Obj(record, { title: 'PixChargeListed' })
const PixCharge = Obj(
  {
    ...record,
    /** Money that came for it. */
    receipts: List(
      Obj(
        {
          id: Uuid,
          endToEndId: Text(1, 60, { cardNumber: 'exempt' }),
          amount: Amount,
          receivedAt: Instant,
          cashMovementId: Uuid,
          claimedByType: OneOf(['payment', 'receipt']),
          claimedById: Uuid,
          returned: Amount,
          /** Money of it that goes or went back. */
          pixReturns: PixReturns,
        },
        { title: 'PixReceipt' },
      ),
      { max: 100 },
    ),
    /** Calls to the bank about the charge. */
    attempts: Attempts,
  },
  { title: 'PixCharge' },
)

const whole = (trx: Trx, id: string) => readCharge(trx, id, false)

const charges = resource({
  name: 'pixCharges',
  subject: 'PixCharge',
  table: 'pix_charge',
  path: `${path}/pix/charges`,
  param: 'pixChargeId',
  record: PixCharge,
  lockedBy: 'command',
  read: whole,
})

const list = charges.list({
  summary: 'List Pix charges by state, purpose or due date',
  query: {
    status: Opt(Status),
    kind: Opt(Kind),
    targetType: Opt(TargetType),
    targetId: Opt(Uuid),
    cashAccountId: Opt(Uuid),
    dueFrom: Opt(Day),
    dueTo: Opt(Day),
    txid: Opt(Txid),
  },
  of: ListedCharge,
  example: { status: 'active' },
  find: ({ trx, filter, admission }) => listCharges(trx, filter, { reveals: admission.can('reveal', 'CashMovement') }),
})

const create = route({
  id: 'pixCharges.create',
  method: 'POST',
  path: `${path}/pix/charges`,
  summary: 'Create a static, immediate or due-date Pix charge',
  description:
    'A static charge has its BR Code at once; the bank makes any other: wait for it with `waitSeconds` and `since=creating`. A target has one live charge: the same again answers it, another is 409 `charge_exists`.',
  access: can('create', 'PixCharge'),
  status: 201,
  ok: 'The live charge of the target, which asks for the same',
  idempotency: 'required',
  errors: [
    'reference_not_found',
    'account_archived',
    'currency_mismatch',
    'pix_not_ready',
    'target_closed',
    'charge_exists',
    'date_out_of_range',
  ],
  body: Obj({
    kind: Kind,
    cashAccountId: Uuid,
    pixKeyId: Opt(Uuid),
    amount: Opt(Money),
    targetType: Opt(TargetType),
    targetId: Opt(Uuid),
    installmentId: Opt(Uuid),
    payer: Opt(Obj({ name: Words(1, 120), document: Document })),
    dueOn: Opt(Day),
    daysAfterDue: Opt(Int(0, 365)),
    fineRate: Opt(Rate),
    monthlyInterestRate: Opt(Rate),
    discounts: Opt(Discounts),
    expiresAt: Opt(Instant),
    text: Opt(Text(0, 140)),
  }),
  example: {
    kind: 'static',
    cashAccountId: sampleId('bankAccountId'),
    amount: 19_990,
    text: 'Deposit of the stay',
  },
  returns: PixCharge,
  handle: async ({ trx, body, admission }) => {
    const { id, isNew } = await createCharge(trx, body, (one) => admission.check('create', 'PixCharge', one))
    const charge = await readCharge(trx, id, admission.can('reveal', 'CashMovement'))
    return new Reply(charge as never, { status: isNew ? 201 : 200 })
  },
})

const read = waitable({
  id: 'pixCharges.read',
  path: `${path}/pix/charges/:pixChargeId`,
  summary: 'Read a charge with its BR Code and payments',
  description: '`since` with `waitSeconds` waits until its status is another one.',
  access: can('read', 'PixCharge'),
  returns: PixCharge,
  part: { resource: 'pixCharges', verb: 'read' },
  since: pixChargeStatuses,
  read: async ({ trx, params }) => (await readCharge(trx, params.pixChargeId, false)).status,
  find: async ({ trx, params, admission }) => {
    const charge = await readCharge(trx, params.pixChargeId, admission.can('reveal', 'CashMovement'))
    admission.check('read', 'PixCharge', asJudged('pix_charge', charge.id, charge))
    return charge
  },
})

const cancel = charges.act('cancel', {
  action: 'update',
  summary: 'Withdraw a charge that is not paid',
  description: 'A static charge ends at once; any other once the bank has closed it, unless it was paid meanwhile.',
  errors: ['invalid_transition'],
  command: ({ trx, id, expectedVersion }) => cancelCharge(trx, id, expectedVersion),
})

export const routes = [list, create, read, cancel]
