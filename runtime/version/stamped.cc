// A program that is stamped in every build, for status_test.py.
#include <cstdio>

#include "runtime/version/version.h"

int main() { std::fputs(weft::VersionText("any").c_str(), stdout); }
