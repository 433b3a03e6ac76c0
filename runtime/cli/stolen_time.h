// What the processors of this host did for other virtual machines meanwhile: then no measurement is to be believed.
#pragma once

namespace fibocast {

// In seconds of one processor, since the host came up; 0 where the system does not say. Steps of a hundredth.
double stolen_seconds();

}  // namespace fibocast
