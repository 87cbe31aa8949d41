import { planList, planVersion } from './plans.ts'
import { featureList } from './features.ts'
import { addOnList, addOnCreate, addOnChange } from './add-ons.ts'
import { history, explain } from './grants.ts'

export const routes = [planList, planVersion, featureList, addOnList, addOnCreate, addOnChange, history, explain]
