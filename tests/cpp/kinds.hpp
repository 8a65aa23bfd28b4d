// A part of the C++ harness.
#ifndef KINDS_HPP
#define KINDS_HPP

#include <splitprove.hpp>

#include <algorithm>
#include <string>
#include <vector>

// Proves the fixtures under a folder; SKIP where there are no parameters for them.
int kinds(const std::string &data);

#endif
