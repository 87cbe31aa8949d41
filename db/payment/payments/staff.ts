import { invalid, unprocessable } from '../../../config/errors.ts'
import { Email, Phone } from '../../../config/schema.ts'
import { isCnpj, isCpf } from '../../../config/tax-ids.ts'
import { compile } from '../../../config/validator.ts'
import type { Trx } from '../../lib/connection.ts'
import { blindIndex } from '../../lib/sealing/index.ts'
import { bookOfProperty } from '../accounts.ts'
import { checkReturnUrl } from '../gateway-accounts/commands.ts'
import type { Method } from '../rules/states.ts'
import { expiryOf } from '../rules/states.ts'
import { targetOf } from '../targets.ts'
import type { TargetType } from '../targets.ts'
import type { JudgeTarget } from './allocate.ts'
import { createPayment } from './create.ts'
import type { CreatedPayment, LinkSending, Payer } from './create.ts'

export type StaffPayment = {
  gatewayAccountId?: string | undefined
  method: Method
  mode?: 'charge' | 'authorise' | undefined
  amount: number
  currency: string
  targetType: TargetType
  targetId: string
  paymentMethodId?: string | undefined
  cardToken?: string | undefined
  saveMethod?: boolean | undefined
  consentTextVersion?: string | undefined
  installments?: number | undefined
  payer?: Payer | undefined
  returnUrl?: string | undefined
  expiresAt?: string | undefined
  description?: string | undefined
  allowExcess?: boolean | undefined
}

export type StaffLink = Pick<
  StaffPayment,
  'gatewayAccountId' | 'amount' | 'currency' | 'targetType' | 'targetId' | 'payer' | 'expiresAt' | 'description'
> & { methods?: Method[] | undefined; send?: LinkSending | undefined; testToken?: string | undefined }

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
/** The earliest and latest end of a payment, by method (R11); of a boleto, two days for the bank come on top. */
const spans: Record<Method | 'link', readonly [number, number]> = {
  card: [5 * minute, day],
  pix: [5 * minute, day],
  boleto: [day, 10 * day],
  link: [hour, 30 * day],
}

const expiry = (kind: Method | 'link', asked: string | undefined, now = new Date()): Date => {
  if (asked === undefined) return kind === 'link' ? new Date(now.getTime() + 72 * hour) : expiryOf(kind, now)
  const span = new Date(asked).getTime() - now.getTime()
  const [least, most] = spans[kind]
  if (span < least - minute || span > most + minute)
    throw invalid([{ field: 'expiresAt', message: 'is too soon or too late for this method' }])
  return new Date(new Date(asked).getTime() + (kind === 'boleto' ? 2 * day : 0))
}

const checkPayer = (method: Method, payer: Payer | undefined) => {
  const document = payer?.document
  if (method === 'boleto' && !document)
    throw invalid([{ field: 'payer.document', message: 'is required for a payment slip' }])
  if (document && !(document.type === 'cpf' ? isCpf : isCnpj)(document.number))
    throw invalid([{ field: 'payer.document.number', message: `is no ${document.type.toUpperCase()}` }])
}

const targetProperty = async (trx: Trx, { targetType, targetId }: Pick<StaffPayment, 'targetType' | 'targetId'>) => {
  const target = await targetOf(targetType).lock(trx, targetId)
  if (!target)
    throw unprocessable('reference_not_found', 'There is no such target', [
      { field: 'targetId', message: 'does not exist' },
    ])
  return target.propertyId
}

/** Charges or authorises through a gateway at the desk. Errors of `createPayment`, and 400 for a time or payer that cannot be. */
export const createStaffPayment = async (
  trx: Trx,
  { saveMethod, consentTextVersion, expiresAt, ...body }: StaffPayment,
  { judge, addressHash }: { judge: JudgeTarget; addressHash: Buffer | null },
): Promise<CreatedPayment> => {
  if (saveMethod && consentTextVersion === undefined)
    throw invalid([{ field: 'consentTextVersion', message: 'is required to save a method' }])
  checkPayer(body.method, body.payer)
  const propertyId = await targetProperty(trx, body)
  judge({ propertyId, targetType: body.targetType, targetId: body.targetId })
  if (body.returnUrl !== undefined) await checkReturnUrl(trx, await bookOfProperty(trx, propertyId), body.returnUrl)
  return createPayment(trx, {
    ...body,
    channel: 'desk',
    propertyId,
    payerIndex: body.payer?.document ? blindIndex(trx, 'document', body.payer.document.number) : null,
    expiresAt: expiry(body.method, expiresAt),
    saving: saveMethod ? { textVersion: consentTextVersion ?? '', addressHash } : undefined,
  })
}

const isMailbox = compile(Email)
const isPhone = compile(Phone)

const checkSending = ({ channel, to }: LinkSending, payer: Payer | undefined) => {
  const isMail = channel === 'email'
  if (to === undefined && (isMail ? payer?.email : payer?.phone) === undefined)
    throw invalid([{ field: 'send.to', message: 'is required where the payer has no such address' }])
  if (to !== undefined && (isMail ? isMailbox : isPhone)(to) !== null)
    throw invalid([{ field: 'send.to', message: isMail ? 'must be an e-mail address' : 'must be a phone number' }])
}

/** Asks the gateway for a page on which the payment can be made, and for a message that brings the payer there. */
export const createLink = async (
  trx: Trx,
  { methods = ['card'], send, testToken, expiresAt, ...body }: StaffLink,
  judge: JudgeTarget,
): Promise<CreatedPayment> => {
  const propertyId = await targetProperty(trx, body)
  judge({ propertyId, targetType: body.targetType, targetId: body.targetId })
  const [method = 'card'] = methods
  if (send) checkSending(send, body.payer)
  return createPayment(trx, {
    ...body,
    channel: 'link',
    method,
    propertyId,
    linkMethods: methods,
    send,
    cardToken: testToken,
    expiresAt: expiry('link', expiresAt),
  })
}
