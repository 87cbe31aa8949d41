import { sampleId } from '../../config/samples.ts'
import {
  Amount,
  Currency,
  Day,
  Int,
  List,
  Nullable,
  Obj,
  OneOf,
  Opt,
  SignedAmount,
  Text,
  Uuid,
} from '../../config/schema.ts'
import { cashAccountKinds } from '../../config/cash.ts'
import { readPosition } from '../../db/cash/index.ts'
import { can } from '../lib/access/kinds.ts'
import { route } from '../lib/route.ts'
import { path, sightOf } from './schemas.ts'

const Position = Obj(
  {
    currencies: List(
      Obj({
        currency: Currency,
        accounts: List(
          Obj({
            id: Uuid,
            name: Text(1, 120),
            kind: OneOf([...cashAccountKinds]),
            /** Null while a blind session is open, for those who do not approve sessions; it is not in the total then. */
            balance: Nullable(SignedAmount),
            cleared: SignedAmount,
            /** The balance that the latest bank statement states. */
            bank: Nullable(Obj({ balance: SignedAmount, on: Day })),
            /** Transfers that are approved and have not left. */
            reserved: Amount,
          }),
          { max: 1_000 },
        ),
        total: SignedAmount,
        overdue: Obj({ in: Amount, out: Amount }),
        days: List(
          Obj({
            date: Day,
            in: Obj({ receivables: Amount, payouts: Amount, charges: Amount }),
            out: Obj({ payables: Amount, recurring: Amount, transfers: Amount }),
            closing: SignedAmount,
          }),
          { max: 90 },
        ),
      }),
      { max: 20 },
    ),
  },
  { title: 'CashPosition' },
)

const read = route({
  id: 'cashPosition.read',
  method: 'GET',
  path: `${path}/position`,
  summary: 'Read balances now and the daily forecast up to 90 days',
  description:
    'Overdue money is apart, and not in the days. `closing` of a day is that of the day before with what comes in less what goes out.',
  access: can('read', 'CashPosition'),
  errors: ['reference_not_found'],
  query: Obj({ bookId: Opt(Uuid), propertyId: Opt(Uuid), days: Opt(Int(0, 90, { default: 30 })) }),
  example: { propertyId: sampleId('propertyId'), days: 7 },
  returns: Position,
  handle: async ({ trx, query, admission, caller }) => ({
    currencies: await readPosition(
      trx,
      { ...query, days: query.days ?? 30 },
      admission.scope('read', 'CashPosition'),
      sightOf(admission, caller, 'CashPosition', 'read'),
    ),
  }),
})

export const routes = [read]
