import type { Gateway } from '../gateway.ts'
import { accounts } from './account.ts'
import { balances } from './balance.ts'
import { charges } from './charge.ts'
import { disputes } from './dispute.ts'
import { links } from './link.ts'
import { methods } from './method.ts'
import { refunds } from './refund.ts'

const { readIntent, find, ...ofCharges } = charges
const { readLink, findLink, ...ofLinks } = links

/** Stripe Connect: direct charges on the accounts of the tenants, with the platform's fee. */
export const stripe: Gateway = {
  provider: 'stripe',
  methods: ['card', 'pix', 'boleto'],
  ...accounts,
  ...methods,
  ...ofCharges,
  ...ofLinks,
  ...refunds,
  ...disputes,
  ...balances,
  read: (payment, signal) =>
    payment.externalId === null && payment.linkId !== null ? readLink(payment, signal) : readIntent(payment, signal),
  find: (payment, signal) => (payment.linkMethods === null ? find(payment, signal) : findLink(payment, signal)),
}
