import { readBrCode } from '../../../config/br-code.ts'
import { conflict, invalid, unprocessable } from '../../../config/errors.ts'
import { payableRescheduled } from '../../../config/events/accounts-payable.ts'
import {
  bookOf,
  installmentsIn,
  replaceInstallments,
  rescheduled,
  storeSchedule,
  todayOf,
} from '../../documents/index.ts'
import type { Installment, Share } from '../../documents/index.ts'
import { authorOf } from '../../lib/authors.ts'
import { contextOf, sql } from '../../lib/connection.ts'
import type { Trx } from '../../lib/connection.ts'
import type { PayableRecord } from '../models.ts'
import { readBoleto } from '../rules/codes.ts'
import { payableSide } from '../side.ts'
import { tell } from '../state.ts'

export type GivenInstallment = Share & { boletoLine?: string | null | undefined; pixCode?: string | null | undefined }

/** 400 for payment slips and Pix codes whose digits are wrong. */
export const checkCodes = (installments: readonly GivenInstallment[], issuedOn: string): void => {
  const errors = installments.flatMap(({ boletoLine, pixCode }, index) => [
    ...(boletoLine && !readBoleto(boletoLine, issuedOn)
      ? [{ field: `installments.${index}.boletoLine`, message: 'is no payment slip: a check digit is wrong' }]
      : []),
    ...(pixCode && !readBrCode(pixCode)
      ? [{ field: `installments.${index}.pixCode`, message: 'is no Pix code: its check characters are wrong' }]
      : []),
  ])
  if (errors.length > 0) throw invalid(errors)
}

type Code = { index: number; field: 'boletoLine' | 'pixCode'; code: string }

/**
 * Refuses a slip, or the Pix code of one charge, that pays another installment: 400 within what is sent, 409 `duplicate_payable` for one of a bill that is not
 * void: of another, or of `self` where it was paid by the code, or is being paid. Bills with one code take turns, so that the second is told of the first.
 */
export const refuseSameCodes = async (
  trx: Trx,
  given: readonly GivenInstallment[],
  self: string | null,
): Promise<void> => {
  const codes = given.flatMap(({ boletoLine, pixCode }, index): Code[] => [
    ...(boletoLine ? [{ index, field: 'boletoLine' as const, code: boletoLine }] : []),
    // A code without a key points to one charge at its bank; a printed one is paid again and again.
    ...(pixCode && readBrCode(pixCode)?.key === null ? [{ index, field: 'pixCode' as const, code: pixCode }] : []),
  ])
  if (codes.length === 0) return
  const first = new Map<string, number>()
  for (const { index, code } of codes) if (!first.has(code)) first.set(code, index)
  const again = codes.filter(({ index, code }) => first.get(code) !== index)
  if (again.length > 0)
    throw invalid(
      again.map(({ index, field, code }) => ({
        field: `installments.${index}.${field}`,
        message: `is that of installment ${(first.get(code) ?? 0) + 1}`,
      })),
    )
  const { tenantId } = contextOf(trx)
  const wanted = [...first.keys()].toSorted()
  await sql(
    trx,
    `select pg_advisory_xact_lock(k.key) from (select hashtextextended('code ' || cast(:tenantId as text) || ' ' || c, 91) as key
       from unnest(cast(:wanted as text[])) c order by 1) k`,
    { tenantId, wanted },
  )
  const taken = await sql<{ code: string; payableId: string }>(
    trx,
    `select c.code, i.payable_id from unnest(cast(:wanted as text[])) as c (code)
     join payable_installment i on i.tenant_id = :tenantId and (i.boleto_line = c.code or i.pix_code = c.code)
       and (i.payable_id is distinct from cast(:self as uuid) or i.open = 0 or exists (select from payable_payment_item x
         where x.tenant_id = i.tenant_id and x.installment_id = i.id and x.status in ('queued', 'sending')))
     join payable p on p.tenant_id = i.tenant_id and p.id = i.payable_id and p.status <> 'void'`,
    { tenantId, wanted, self },
  )
  const of = new Map(taken.map(({ code, payableId }) => [code, payableId]))
  const errors = codes.flatMap(({ index, field, code }) => {
    const payableId = of.get(code)
    return payableId ? [{ field: `installments.${index}.${field}`, message: `is that of payable ${payableId}` }] : []
  })
  if (errors.length > 0) throw conflict('duplicate_payable', 'Another installment is paid by this code', errors)
}

/** Slips and codes stand with the installment of their day and amount; of several alike one each. */
const writeCodes = async (
  trx: Trx,
  payableId: string,
  given: readonly GivenInstallment[],
  busy: readonly string[] = [],
): Promise<void> => {
  if (!given.some(({ boletoLine, pixCode }) => boletoLine || pixCode)) return
  await sql(
    trx,
    `update payable_installment i set boleto_line = c.boleto_line, pix_code = c.pix_code
     from (select g.*, row_number() over (partition by due_on, amount order by place) as turn
         from jsonb_to_recordset(cast(:codes as jsonb)) as g (place int, due_on date, amount bigint, boleto_line text, pix_code text)) c
     join (select t.id, t.due_on, t.open, row_number() over (partition by t.due_on, t.open order by t.seq) as turn
         from payable_installment t where t.tenant_id = :tenantId and t.payable_id = :payableId and t.open > 0 and not t.id = any(cast(:busy as uuid[]))) f
       on f.due_on = c.due_on and f.open = c.amount and f.turn = c.turn
     where i.tenant_id = :tenantId and i.id = f.id`,
    {
      codes: JSON.stringify(
        given.map(({ dueOn, amount, boletoLine, pixCode }, place) => ({
          place,
          due_on: dueOn,
          amount,
          boleto_line: boletoLine ?? null,
          pix_code: pixCode ?? null,
        })),
      ),
      tenantId: contextOf(trx).tenantId,
      payableId,
      busy,
    },
  )
}

/** Replaces the installments of a draft. */
export const writeInstallments = async (
  trx: Trx,
  payableId: string,
  shares: readonly Share[],
  given: readonly GivenInstallment[],
): Promise<void> => {
  await replaceInstallments(trx, payableSide, payableId, shares)
  await writeCodes(trx, payableId, given)
}

/** Those that a live payment carries. */
export const inPaymentOf = async (trx: Trx, payableId: string): Promise<string[]> =>
  (
    await sql<{ installmentId: string }>(
      trx,
      `select installment_id from payable_payment_item where tenant_id = ? and payable_id = ? and status in ('queued', 'sending')`,
      [contextOf(trx).tenantId, payableId],
    )
  ).map(({ installmentId }) => installmentId)

type Coded = { id: string; dueOn: string; open: number; boletoLine: string | null; pixCode: string | null }

const codedOf = (trx: Trx, payableId: string): Promise<Coded[]> =>
  sql<Coded>(
    trx,
    `select id, due_on, open, boleto_line, pix_code from payable_installment where tenant_id = ? and payable_id = ? order by seq`,
    [contextOf(trx).tenantId, payableId],
  )

/** Codes of a new schedule: one of the day and open amount of an installment that stands keeps its codes, unless it names others, or another one names them. */
const withKeptCodes = (given: readonly GivenInstallment[], standing: readonly Coded[]): GivenInstallment[] => {
  const named = new Set(given.flatMap(({ boletoLine, pixCode }) => [boletoLine, pixCode]))
  const left = [...standing]
  const kept = (code: string | null) => (named.has(code) ? null : code)
  return given.map((share) => {
    const same = left.findIndex(({ dueOn, open }) => dueOn === share.dueOn && open === share.amount)
    const [old] = same < 0 ? [] : left.splice(same, 1)
    if (!old) return share
    const { boletoLine = kept(old.boletoLine), pixCode = kept(old.pixCode) } = share
    return { ...share, boletoLine, pixCode }
  })
}

/**
 * Divides and dates anew what is not paid of an approved bill (R9), which the caller holds. What is settled or in a live payment stays. Answers the schedule of
 * before, and those who gave the bill Pix codes since its approval. 422 `installments_not_equal`, `date_out_of_range`.
 */
export const reschedule = async (
  trx: Trx,
  payable: PayableRecord,
  given: readonly GivenInstallment[],
): Promise<{ before: Installment[]; codeAuthors: string[] }> => {
  const early = given.findIndex(({ dueOn }) => dueOn < payable.issuedOn)
  if (early >= 0)
    throw unprocessable('date_out_of_range', 'An installment is due before the bill was issued', [
      { field: `installments.${early}.dueOn`, message: `must not be before ${payable.issuedOn}` },
    ])
  checkCodes(given, payable.issuedOn)
  await refuseSameCodes(trx, given, payable.id)
  const before = await installmentsIn(trx, payableSide, [payable.id])
  const busy = await inPaymentOf(trx, payable.id)
  const book = await bookOf(trx, { bookId: payable.bookId })
  const free = before.filter(({ id }) => !busy.includes(id))
  const most = Math.max(0, ...before.map(({ seq }) => seq))
  const made = rescheduled(free, given, todayOf(book))
  let next = most
  const schedule = made.map((one) => {
    if (one.id !== null) return one
    next += 1
    return { ...one, seq: next }
  })
  const standing = await codedOf(trx, payable.id)
  const coded = withKeptCodes(
    given,
    standing.filter(({ id, open }) => open > 0 && !busy.includes(id)),
  )
  const { tenantId } = contextOf(trx)
  // Codes belong to the day and amount that they were given for.
  await sql(
    trx,
    `update payable_installment set boleto_line = null, pix_code = null where tenant_id = ? and payable_id = ? and open > 0 and not id = any(?::uuid[])`,
    [tenantId, payable.id, busy],
  )
  await storeSchedule(trx, payableSide, payable.id, schedule)
  await writeCodes(trx, payable.id, coded, busy)
  await tell(trx, payableRescheduled, payable.id)
  const isNew = given.some(({ pixCode }) => pixCode && standing.every((old) => old.pixCode !== pixCode))
  const author = isNew ? await authorOf(trx) : null
  const codeAuthors =
    author === null || payable.codeAuthors.includes(author) ? payable.codeAuthors : [...payable.codeAuthors, author]
  return { before, codeAuthors }
}
