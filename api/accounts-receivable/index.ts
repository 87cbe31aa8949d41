import type { AnyRoute } from '../lib/route.ts'
import { routes as creditNotes } from './credit-notes.ts'
import { routes as customers } from './customers.ts'
import { routes as dunning } from './dunning.ts'
import { routes as figures } from './figures.ts'
import { routes as fiscalDocuments } from './fiscal-documents.ts'
import { routes as receipts } from './receipts.ts'
import { routes as receivables } from './receivables.ts'
import { routes as send } from './send.ts'
import { routes as settings } from './settings.ts'

export const routes: AnyRoute[] = [
  ...customers,
  ...receivables,
  ...figures,
  ...receipts,
  ...creditNotes,
  ...fiscalDocuments,
  ...send,
  ...dunning,
  ...settings,
]
