import { readBrCode } from '../../../config/br-code.ts'
import { conflict, unprocessable } from '../../../config/errors.ts'

/** Why an item cannot be paid; `index` counts the items. */
export type Refusal = { index: number; code: string; message: string }

/** The facts of a bill and its payee by which a Pix can leave, or not. */
type Payable = {
  status: string
  onHold: boolean
  supplierStatus: string | null
  paymentsBlocked: boolean | null
  pixCode: string | null
  detailsId: string | null
  detailsUsable: boolean | null
}

export const paymentsBlocked = { code: 'payments_blocked', message: 'payments to the supplier are blocked' }

/** Why nothing can be sent for an installment by Pix now (R14). */
export const pixRefusals = (row: Payable): { code: string; message: string }[] => {
  const problems: [boolean, string, string][] = [
    [!['approved', 'partly_paid'].includes(row.status), 'payable_not_approved', 'the bill is not approved, or is paid'],
    [row.onHold, 'on_hold', 'the bill is held'],
    [row.supplierStatus === 'archived', 'supplier_archived', 'the supplier is archived'],
    [row.paymentsBlocked === true, paymentsBlocked.code, paymentsBlocked.message],
    [
      row.pixCode === null && row.detailsId === null,
      'no_destination',
      'there is no Pix code and there are no bank details',
    ],
    [
      row.pixCode === null && row.detailsId !== null && row.detailsUsable !== true,
      'bank_details_waiting',
      'the bank details were approved a short time ago',
    ],
  ]
  return problems.flatMap(([isWrong, code, message]) => (isWrong ? [{ code, message }] : []))
}

/** The amount that the Pix code of an installment says; null where it has none, or says none. */
export const amountOfCode = ({ pixCode }: { pixCode: string | null }): number | null =>
  pixCode === null ? null : (readBrCode(pixCode)?.amount ?? null)

/** Why all that is open of an installment cannot be sent by Pix now. */
export const wholeRefusals = (row: Payable & { open: number }): string[] => {
  const said = amountOfCode(row)
  return [
    ...(row.open === 0 ? ['amount_exceeds_open'] : said !== null && said !== row.open ? ['pix_code_amount'] : []),
    ...pixRefusals(row).map(({ code }) => code),
  ]
}

/** Throws what stands against a payment: the first by its own code, several as one. */
export const refuseItems = (refusals: readonly Refusal[], isPix: boolean): void => {
  const [first] = refusals
  if (!first) return
  const errors = refusals.map(({ index, code, message }) => ({
    field: `items.${index}`,
    message: `${code}: ${message}`,
  }))
  if (refusals.some(({ code }) => code === 'installment_in_payment'))
    throw conflict('installment_in_payment', 'A payment of an installment is under way', errors.slice(0, 50))
  if (refusals.some(({ code }) => code === 'amount_exceeds_open'))
    throw unprocessable('amount_exceeds_open', 'An item is more than is open of its installment', errors.slice(0, 50))
  if (!isPix) throw unprocessable('payable_not_approved', 'A bill is not approved', errors.slice(0, 50))
  throw unprocessable('not_payable', 'Some items cannot be paid by Pix now', errors.slice(0, 50))
}
