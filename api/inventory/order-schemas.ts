import { mostOrderLines, orderStatuses, revenueGroups } from '../../config/inventory.ts'
import {
  Amount,
  AnyOf,
  Bool,
  Currency,
  Day,
  Instant,
  Int,
  List,
  Literal,
  Nullable,
  Obj,
  OneOf,
  Opt,
  Text,
  Uuid,
} from '../../config/schema.ts'
import type { Static } from '../../config/schema.ts'
import { stamps } from '../properties/schemas.ts'
import { Held, Name, Note, PriceCode } from './schemas.ts'

export const posOrderHead = {
  id: Uuid,
  propertyId: Uuid,
  outletId: Uuid,
  number: Text(1, 30),
  externalId: Nullable(Text(1, 100)),
  /** The day that it was opened on; once it is closed, the day that it counts on. */
  businessDate: Day,
  status: OneOf([...orderStatuses]),
  table: Nullable(Text(0, 20)),
  covers: Int(0, 500),
  reservationId: Nullable(Uuid),
  unitId: Nullable(Uuid),
  currency: Currency,
  serviceCharge: Bool,
  serviceChargeRate: Int(0, 2_000),
  discount: Amount,
  discountReason: Nullable(Text(0, 500)),
  note: Nullable(Text(0, 500)),
  /** Of the live lines, before the discount. */
  subtotal: Amount,
  serviceChargeAmount: Amount,
  total: Amount,
  paidAmount: Amount,
  openedBy: Nullable(Uuid),
  closedBy: Nullable(Uuid),
  closedAt: Nullable(Instant),
  cancelReason: Nullable(Text(0, 500)),
  ...stamps,
}
export const PosOrder = Obj(
  {
    ...posOrderHead,
    lines: List(
      Obj({
        id: Uuid,
        priceCode: PriceCode,
        name: Name,
        quantity: Held,
        unitAmount: Amount,
        /** Before its share of the discount. */
        amount: Amount,
        discountShare: Amount,
        revenueGroup: OneOf([...revenueGroups]),
        note: Nullable(Text(0, 500)),
        status: OneOf(['live', 'voided']),
        voidReason: Nullable(Text(0, 500)),
        /** It was used up though it was voided. */
        wasted: Bool,
      }),
      { max: mostOrderLines },
    ),
    settlements: List(
      Obj({
        type: OneOf(['folio', 'payment', 'house']),
        folioLineIds: List(Uuid, { max: 100 }),
        paymentId: Nullable(Uuid),
        reason: Nullable(Text(0, 500)),
        amount: Amount,
        createdAt: Instant,
      }),
      { max: 200 },
    ),
  },
  { title: 'PosOrder' },
)

const amount = Opt(Int(1, 1_000_000_000_000))
const Settlement = AnyOf([
  Obj({ type: Literal('folio'), reservationId: Opt(Uuid), folioId: Opt(Uuid), amount }),
  Obj({
    type: Literal('payment'),
    method: OneOf(['card', 'pix', 'cash', 'bank_transfer', 'terminal', 'cheque', 'other']),
    cashSessionId: Opt(Uuid),
    cashAccountId: Opt(Uuid),
    reference: Opt(Text(1, 60, { cardNumber: 'document' })),
    amount,
  }),
  Obj({ type: Literal('house'), reason: Note, amount }),
])
export const Settlements = List(Settlement, { max: 20 })
export type Settlements = Static<typeof Settlements>
