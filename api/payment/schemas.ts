import {
  Actor,
  Amount,
  AnyOf,
  Bool,
  Country,
  Currency,
  Day,
  Email,
  Instant,
  Int,
  List,
  Literal,
  Matching,
  Nullable,
  Obj,
  OneOf,
  Opt,
  Phone,
  SignedAmount,
  Text,
  Uuid,
  Words,
} from '../../config/schema.ts'
import { stamps } from '../properties/schemas.ts'

/** Schemas of payments that several endpoints share. */

export const paymentStatuses = [
  'created',
  'unknown',
  'requires_action',
  'processing',
  'authorised',
  'captured',
  'failed',
  'cancelled',
  'expired',
  'reversed',
] as const
export const refundStatuses = ['requested', 'processing', 'unknown', 'succeeded', 'failed'] as const
const gatewayMethods = ['card', 'pix', 'boleto'] as const
const allMethods = [...gatewayMethods, 'cash', 'bank_transfer', 'terminal', 'cheque', 'other'] as const

export const GatewayMethod = OneOf([...gatewayMethods])
export const AnyMethod = OneOf([...allMethods])
export const Provider = OneOf(['stripe', 'sandbox'])
export const TargetType = OneOf(['booking', 'reservation', 'folio', 'receivable', 'pos_order'])
export const PaymentStatus = OneOf([...paymentStatuses])
export const RefundStatus = OneOf([...refundStatuses])
/** Minor units, more than none. */
export const Money = Int(1, 10_000_000_000_000)
export const Reference = Text(1, 200, { cardNumber: 'exempt' })
/** A token of the gateway, never the number of a card. */
export const CardToken = Matching('^[A-Za-z0-9_.-]{1,200}$', 200)
export const Url = Text(8, 2000)

export const Street = Obj({
  street: Words(1, 120),
  number: Opt(Text(1, 20)),
  complement: Opt(Text(1, 60)),
  district: Opt(Text(1, 60)),
  city: Words(1, 80),
  region: Opt(Text(1, 60)),
  postalCode: Words(1, 20),
  country: Country,
})
export const Payer = Obj({
  name: Words(1, 120),
  email: Opt(Email),
  phone: Opt(Phone),
  document: Opt(
    Obj({
      type: OneOf(['cpf', 'cnpj']),
      number: Matching('^[0-9A-Za-z./ -]{11,20}$', 20, { cardNumber: 'document' }),
    }),
  ),
  address: Opt(Street),
})

const Page = Text(1, 2000)
export const Action = AnyOf([
  Obj({ type: Literal('redirect'), url: Page }, { title: 'RedirectAction' }),
  Obj(
    {
      type: Literal('client_secret'),
      provider: Text(1, 20),
      publishableKey: Text(1, 200),
      account: Text(1, 100),
      clientSecret: Text(1, 300),
    },
    { title: 'ClientSecretAction' },
  ),
  Obj({ type: Literal('pix'), copyPaste: Text(1, 1000), expiresAt: Instant }, { title: 'PixAction' }),
  Obj({ type: Literal('boleto'), digitableLine: Text(1, 100), url: Page, dueDate: Day }, { title: 'BoletoAction' }),
])
export const Failure = Obj({ code: Text(1, 60), message: Text(0, 200) }, { title: 'GatewayFailure' })

export const paymentFields = {
  id: Uuid,
  origin: OneOf(['gateway', 'recorded']),
  channel: OneOf(['desk', 'portal', 'link', 'automatic']),
  mode: OneOf(['charge', 'authorise']),
  method: AnyMethod,
  gatewayAccountId: Nullable(Uuid),
  /** Of recorded money: the account that took it. */
  cashAccountId: Nullable(Uuid),
  /** The session of a register that it passed. */
  cashSessionId: Nullable(Uuid),
  propertyId: Uuid,
  targetType: Nullable(TargetType),
  targetId: Nullable(Uuid),
  amount: Amount,
  currency: Currency,
  status: PaymentStatus,
  authorisedAmount: Amount,
  capturedAmount: Amount,
  refundReserved: Amount,
  refundedAmount: Amount,
  disputedAmount: Amount,
  allocatedAmount: Amount,
  overReturned: Amount,
  feeAmount: Nullable(SignedAmount),
  platformFeeAmount: Nullable(Amount),
  netAmount: Nullable(SignedAmount),
  paymentMethodId: Nullable(Uuid),
  externalId: Nullable(Reference),
  linkId: Nullable(Reference),
  installments: Int(1, 12),
  failure: Nullable(Failure),
  description: Nullable(Text(0, 200)),
  reference: Nullable(Text(0, 60)),
  note: Nullable(Text(0, 500)),
  expiresAt: Nullable(Instant),
  authorisationExpiresAt: Nullable(Instant),
  capturedAt: Nullable(Instant),
  businessDate: Nullable(Day),
  captureRequested: Nullable(Amount),
  cancelRequestedAt: Nullable(Instant),
  supersededById: Nullable(Uuid),
  late: Bool,
  payable: Obj({ unallocated: Amount, refundable: Amount }),
  ...stamps,
}

export const History = List(
  Obj({
    status: PaymentStatus,
    at: Instant,
    by: Actor,
    cause: OneOf(['call', 'callback', 'read', 'command', 'clock']),
  }),
  { max: 50 },
)
