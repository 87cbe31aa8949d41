import { routes as chartOfAccounts } from './financial/chart-of-accounts.ts'
import { routes as ledgerEntries } from './financial/ledger-entries.ts'
import type { AnyRoute } from './lib/route.ts'
import { routes as paymentCallbacks } from './payment/callbacks.ts'
import { routes as publicPayments } from './public/payments.ts'
import { routes as publicProperty } from './public/property.ts'
import { routes as publicQuotes } from './public/quotes.ts'

/** Every endpoint of the service. */
export const routes: readonly AnyRoute[] = [...chartOfAccounts, ...ledgerEntries, ...paymentCallbacks, ...publicPayments, ...publicProperty, ...publicQuotes]
