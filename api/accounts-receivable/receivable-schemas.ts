import { pixChargeStatuses } from '../../config/pix.ts'
import { noticeStatuses } from '../../config/dunning.ts'
import { fiscalStatuses } from '../../config/fiscal.ts'
import { receivableStatuses } from '../../config/receivables.ts'
import {
  Actor,
  Amount,
  Anything,
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
  Text,
  Uuid,
  Words,
} from '../../config/schema.ts'
import { Kind, Quantity, stamps, Status, Sum } from './schemas.ts'

const head = {
  id: Uuid,
  bookId: Uuid,
  propertyId: Nullable(Uuid),
  customerId: Uuid,
  customer: Obj({ id: Uuid, name: Text(0, 400) }),
  kind: Kind,
  /** Its amount came with folios. */
  billed: Bool,
  series: Nullable(Text(1, 20)),
  /** Null until it is issued, and of opening debts. */
  number: Nullable(Count),
  /** Shown before the number. */
  numberPrefix: Text(0, 10),
  issuedOn: Day,
  postingOn: Day,
  currency: Currency,
  total: Amount,
  settled: Amount,
  credited: Amount,
  writtenOff: Amount,
  open: Amount,
  status: Status,
  consolidatedIntoId: Nullable(Uuid),
  customerReference: Text(0, 60),
  notes: Text(0, 2_000),
  dunningPausedUntil: Nullable(Day),
  promisedOn: Nullable(Day),
  costCenterId: Nullable(Uuid),
  creditOverrideBy: Nullable(Uuid),
  creditOverrideReason: Nullable(Text(0, 500)),
  sentAt: Nullable(Instant),
  createdBy: Nullable(Uuid),
  issuedBy: Nullable(Uuid),
  voidedOn: Nullable(Day),
  voidReason: Nullable(Text(0, 500)),
  ...stamps,
}
export const ReceivableListed = Obj({ ...head, dueOn: Nullable(Day) }, { title: 'ReceivableListed' })
export const Receivable = Obj(
  {
    ...head,
    lines: List(
      Obj(
        {
          lineNo: Int(1, 200),
          description: Text(0, 200),
          quantity: Text(1, 30),
          unitAmount: Amount,
          amount: Amount,
          accountId: Nullable(Uuid),
          folioId: Nullable(Uuid),
          fromReceivableId: Nullable(Uuid),
          taxCodeId: Nullable(Uuid),
          /** Inside the amount. */
          taxAmount: Amount,
          propertyId: Nullable(Uuid),
          costCenterId: Nullable(Uuid),
        },
        { title: 'ReceivableLine' },
      ),
      { max: 200 },
    ),
    installments: List(
      Obj(
        {
          id: Uuid,
          seq: Count,
          dueOn: Day,
          amount: Amount,
          settled: Amount,
          credited: Amount,
          writtenOff: Amount,
          open: Amount,
          /** Amounts of one that undoes another are below 0. */
          allocations: List(
            Obj({
              id: Uuid,
              receiptId: Uuid,
              on: Day,
              principal: Int(-10_000_000_000_000, 10_000_000_000_000),
              interest: Int(-10_000_000_000_000, 10_000_000_000_000),
              fine: Int(-10_000_000_000_000, 10_000_000_000_000),
              discount: Int(-10_000_000_000_000, 10_000_000_000_000),
              fee: Int(-10_000_000_000_000, 10_000_000_000_000),
              withheld: List(Obj({ taxCodeId: Uuid, amount: Int(-10_000_000_000_000, 10_000_000_000_000) }), {
                max: 20,
              }),
              reversesId: Nullable(Uuid),
            }),
            { max: 1_000 },
          ),
        },
        { title: 'ReceivableInstallment' },
      ),
      { max: 1_000 },
    ),
    creditNotes: List(
      Obj({
        id: Uuid,
        number: Nullable(Count),
        issuedOn: Day,
        amount: Amount,
        applied: Amount,
        status: OneOf(['issuing', 'issued']),
      }),
      { max: 1_000 },
    ),
    writeOffs: List(
      Obj({
        id: Uuid,
        amount: Amount,
        reason: Text(0, 500),
        on: Day,
        writtenOffBy: Uuid,
        selfApproved: Bool,
        reinstatedOn: Nullable(Day),
        reinstatedBy: Nullable(Uuid),
      }),
      { max: 1_000 },
    ),
    /** Bills of stays that it took up. */
    consolidates: List(Obj({ id: Uuid, folioId: Nullable(Uuid), total: Amount }), { max: 200 }),
    pixCharges: List(Obj({ id: Uuid, installmentId: Nullable(Uuid), status: OneOf([...pixChargeStatuses]) }), {
      max: 1_000,
    }),
    /** The one that stands, else the last. */
    fiscalDocument: Nullable(
      Obj({
        id: Uuid,
        status: OneOf([...fiscalStatuses]),
        rpsNumber: Nullable(Count),
        authorityNumber: Nullable(Text(1, 60, { cardNumber: 'exempt' })),
        documentUrl: Nullable(Text(1, 2_000)),
      }),
    ),
    notices: List(
      Obj({
        id: Uuid,
        installmentId: Uuid,
        level: Int(1, 8),
        status: OneOf([...noticeStatuses]),
        skipReason: Nullable(Text(1, 60)),
        runOn: Day,
      }),
      { max: 500 },
    ),
    history: List(
      Obj({
        command: Text(1, 60),
        from: Nullable(OneOf([...receivableStatuses])),
        to: OneOf([...receivableStatuses]),
        changes: MapOf(Anything, { max: 100 }),
        reason: Nullable(Text(0, 500)),
        actor: Actor,
        requestId: Nullable(Text(1, 200)),
        at: Instant,
      }),
      { max: 1_000 },
    ),
  },
  { title: 'Receivable' },
)

/** A line of an invoice as it is sent. */
export const GivenLine = Obj(
  {
    description: Words(1, 200),
    quantity: Opt(Quantity),
    unitAmount: Sum,
    accountId: Uuid,
    taxCodeId: Opt(Nullable(Uuid)),
    costCenterId: Opt(Nullable(Uuid)),
    propertyId: Opt(Nullable(Uuid)),
  },
  { title: 'ReceivableLineInput' },
)
