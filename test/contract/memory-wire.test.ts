import { managedNetworkContract } from './managed-network.contract.js';
import { openMemoryWire } from './wire.js';
import { wireEnvelopeContract } from './wire-envelope.contract.js';
import { wireProcessContract } from './wire-process.contract.js';

wireEnvelopeContract('memory', openMemoryWire);
wireProcessContract('memory', openMemoryWire);
managedNetworkContract('memory', openMemoryWire);
