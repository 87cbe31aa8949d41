import { readBrCode } from '../../../config/br-code.ts'
import { invalid, unprocessable } from '../../../config/errors.ts'
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

/** Slips and codes stand with the installment of their day. */
const writeCodes = async (trx: Trx, payableId: string, given: readonly GivenInstallment[]): Promise<void> => {
  const codes = given.filter(({ boletoLine, pixCode }) => boletoLine || pixCode)
  if (codes.length === 0) return
  await sql(
    trx,
    `update payable_installment i set boleto_line = c.boleto_line, pix_code = c.pix_code
     from (select distinct on (t.id) t.id, g.boleto_line, g.pix_code from jsonb_to_recordset(cast(? as jsonb)) as g (due_on date, boleto_line text, pix_code text)
       join payable_installment t on t.tenant_id = ? and t.payable_id = ? and t.due_on = g.due_on and t.open > 0 order by t.id) c
     where i.tenant_id = ? and i.id = c.id`,
    [
      JSON.stringify(
        codes.map(({ dueOn, boletoLine, pixCode }) => ({
          due_on: dueOn,
          boleto_line: boletoLine ?? null,
          pix_code: pixCode ?? null,
        })),
      ),
      contextOf(trx).tenantId,
      payableId,
      contextOf(trx).tenantId,
    ],
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

/**
 * Divides and dates anew what is not paid of an approved bill (R9), which the caller holds. What is settled or in a live payment stays. 422
 * `installments_not_equal`, `date_out_of_range`.
 */
export const reschedule = async (
  trx: Trx,
  payable: PayableRecord,
  given: readonly GivenInstallment[],
): Promise<Installment[]> => {
  const early = given.findIndex(({ dueOn }) => dueOn < payable.issuedOn)
  if (early >= 0)
    throw unprocessable('date_out_of_range', 'An installment is due before the bill was issued', [
      { field: `installments.${early}.dueOn`, message: `must not be before ${payable.issuedOn}` },
    ])
  checkCodes(given, payable.issuedOn)
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
  const { tenantId } = contextOf(trx)
  // Codes belong to the day and amount that they were given for.
  await sql(
    trx,
    `update payable_installment set boleto_line = null, pix_code = null where tenant_id = ? and payable_id = ? and open > 0 and not id = any(?::uuid[])`,
    [tenantId, payable.id, busy],
  )
  await storeSchedule(trx, payableSide, payable.id, schedule)
  await writeCodes(trx, payable.id, given)
  await tell(trx, payableRescheduled, payable.id)
  return before
}
