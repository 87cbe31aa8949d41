import { createCustomer, setSettings } from '../accounts-receivable/index.ts'
import type { Trx } from '../lib/connection.ts'

/**
 * Billing of the inn: prefixes, late charges, reminders that are planned but off, its codes at the tax authority, and an agency that pays by the
 * month.
 */
export const buildBilling = async (trx: Trx, book: { id: string; timeZone: string }): Promise<void> => {
  await setSettings(
    trx,
    book,
    {
      numbering: { invoice: { prefix: 'F' }, credit_note: { prefix: 'NC' }, receipt: { prefix: 'R' } },
      lateCharges: { fineRate: 200, monthlyInterestRate: 100 },
      dunning: {
        enabled: false,
        hour: 9,
        minimum: 1_000,
        steps: [
          { level: 1, days: -3, channels: ['email'], stopCredit: false },
          { level: 2, days: 5, channels: ['email'], stopCredit: false },
          { level: 3, days: 20, channels: ['email', 'whatsapp'], stopCredit: true },
        ],
      },
      fiscal: { cityCode: '3303807', serviceCode: '0901', nationalServiceCode: '090101', issRate: 500 },
    },
    null,
  )
  await createCustomer(trx, {
    kind: 'agency',
    legalName: 'Viagens Mar Azul Ltda',
    tradeName: 'Mar Azul',
    document: '11444777000161',
    currency: 'BRL',
    email: 'financeiro@marazul.example',
    invoiceEmails: ['notas@marazul.example'],
    address: { line1: 'Rua do Comércio 20', city: 'Paraty', region: 'RJ', postalCode: '23970-000', countryCode: 'BR' },
    billing: 'monthly',
    billingDay: 5,
    termDays: 15,
    creditLimit: 2_000_000,
  })
}
