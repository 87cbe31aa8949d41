import type { AnyRoute } from '../lib/route.ts'
import { routes as dunning } from './dunning.ts'
import { routes as fiscalDocuments } from './fiscal-documents.ts'
import { routes as settings } from './settings.ts'

export const routes: AnyRoute[] = [...fiscalDocuments, ...dunning, ...settings]
