import { settings } from '../../../../config/env.ts'
import { contextOf, sqlOne } from '../../../lib/connection.ts'
import type { Trx } from '../../../lib/connection.ts'

export type MethodKind = 'card' | 'pix' | 'boleto' | 'transfer'

/** A tenant's way to pay. Brand and last digits are those of a card that has paid once. */
export type KeptMethod = {
  kind: MethodKind
  status: 'pending' | 'active' | 'failed'
  brand?: string
  last4?: string
}

export type Status = 'created' | 'unknown' | 'requires_action' | 'processing' | 'captured' | 'failed' | 'cancelled'

/** The account of the provider of this service, at the gateway that bills are paid through. */
export const platformAccount = 'platform'

export type Invoice = {
  id: string
  number: string
  status: 'issued' | 'paid' | 'void'
  total: number
  currency: string
  dueOn: string
  issuedAt: Date
  /** Of the tenant. */
  locale: string
}

export const invoiceOf = (trx: Trx, invoiceId: string, lock = ''): Promise<Invoice | null> =>
  sqlOne<Invoice>(
    trx,
    `select id, number, status, total, currency, due_on::text as due_on, issued_at,
       (select locale from tenant t where t.id = tenant_id) as locale from subscription_invoice where id = ? ${lock}`,
    [invoiceId],
  )

export const tokenPlace = (tenantId: string) => ({ table: 'subscription', rowId: tenantId, purpose: 'card_token' })

export const submissionPlace = (id: string) => ({ table: 'invoice_payment', rowId: id, purpose: 'submission' })

export const tenantOf = (trx: Trx): string => contextOf(trx).tenantId ?? ''

export const gate = () => `${settings.billingGateway}:${platformAccount}`
